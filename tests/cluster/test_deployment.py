"""The files in deploy/ are what their tools take."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

jsonschema = pytest.importorskip("jsonschema")  # comes with Ray

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_the_cloud_cluster_fits_the_schema_of_ray_up() -> None:
    ray = pytest.importorskip("ray")
    schema = json.loads((Path(ray.__file__).parent / "autoscaler" / "ray-schema.json").read_text())
    cluster = yaml.safe_load((DEPLOY / "aws.yaml").read_text())
    jsonschema.validate(cluster, schema)
    types = cluster["available_node_types"]
    assert cluster["head_node_type"] in types
    assert sum(each.get("max_workers", 0) for each in types.values()) <= cluster["max_workers"]


def test_machines_install_the_wheel_that_was_built() -> None:
    """Not a name of an index, which anybody may register."""
    for path in (DEPLOY / name for name in ("aws.yaml", "kuberay.yaml", "sanderling.service", "Dockerfile")):
        installs = re.findall(r"pip install [^&\n]*", path.read_text())
        assert not [each for each in installs if re.search(r"[ '\"]sanderling(?=[\['\" ]|$)", each)], path
    locked = (DEPLOY.parent / "requirements" / "cluster.txt").read_text()
    assert re.search(r"^ray==", locked, re.MULTILINE) and "--hash=sha256:" in locked


def _record(required: list[str], **fields: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": fields, "additionalProperties": False}


# The fields of the custom resources of KubeRay and of Kubernetes that the manifest uses. Any other
# one is refused.
TEXT, COUNT, NAMES = (
    {"type": "string"},
    {"type": "integer", "minimum": 0},
    {"type": "array", "items": {"type": "string"}},
)
QUANTITY = {"type": "string", "pattern": r"^\d+(m|Mi|Gi)?$"}
AMOUNTS = _record([], cpu=QUANTITY, memory=QUANTITY, storage=QUANTITY)
TEXTS = {"type": "object", "additionalProperties": TEXT}
META = _record(["name"], name=TEXT, annotations=TEXTS)
PROBE = _record([], tcpSocket=_record(["port"], port=COUNT), exec=_record(["command"], command=NAMES), periodSeconds=COUNT, failureThreshold=COUNT)  # fmt: skip
CONTAINER = _record(
    ["name", "image"], name=TEXT, image=TEXT, command=NAMES, args=NAMES,
    env={"type": "array", "items": _record(["name"], name=TEXT, value=TEXT, valueFrom=_record(["fieldRef"], fieldRef=_record(["fieldPath"], fieldPath={"enum": ["status.podIP", "spec.nodeName"]})))},
    ports={"type": "array", "items": _record(["containerPort"], name=TEXT, containerPort=COUNT)},
    readinessProbe=PROBE, livenessProbe=PROBE, resources=_record([], requests=AMOUNTS, limits=AMOUNTS),
    volumeMounts={"type": "array", "items": _record(["name", "mountPath"], name=TEXT, mountPath=TEXT, readOnly={"type": "boolean"})},
)  # fmt: skip
VOLUME = _record(
    ["name"], name=TEXT, secret=_record(["secretName"], secretName=TEXT), emptyDir=_record([], medium={"enum": ["", "Memory"]}),
    persistentVolumeClaim=_record(["claimName"], claimName=TEXT),
)  # fmt: skip
POD = _record(["spec"], metadata=META, spec=_record(["containers"], containers={"type": "array", "items": CONTAINER, "minItems": 1}, volumes={"type": "array", "items": VOLUME}))  # fmt: skip
SPECS = {
    "PersistentVolumeClaim": _record(["accessModes", "resources"], accessModes=NAMES, resources=_record(["requests"], requests=AMOUNTS)),
    "RayCluster": _record(
        ["headGroupSpec"], rayVersion=TEXT, headGroupSpec=_record(["template"], rayStartParams=TEXTS, template=POD),
        workerGroupSpecs={"type": "array", "items": _record(
            ["groupName", "maxReplicas", "minReplicas", "template"], groupName=TEXT, replicas=COUNT, minReplicas=COUNT,
            maxReplicas=COUNT, rayStartParams=TEXTS, template=POD)},
    ),
}  # fmt: skip


def test_the_manifests_fit_the_fields_of_kuberay() -> None:
    documents = list(yaml.safe_load_all((DEPLOY / "kuberay.yaml").read_text()))
    assert [(each["apiVersion"], each["kind"]) for each in documents] == [
        ("v1", "PersistentVolumeClaim"),
        ("ray.io/v1", "RayCluster"),
    ]
    for each in documents:
        jsonschema.validate(each, _record(["apiVersion", "kind", "metadata", "spec"], apiVersion=TEXT, kind=TEXT, metadata=META, spec=SPECS[each["kind"]]))  # fmt: skip
    for group in (documents[1]["spec"]["headGroupSpec"], *documents[1]["spec"]["workerGroupSpecs"]):
        pod = group["template"]["spec"]
        named = {volume["name"] for volume in pod["volumes"]}
        assert all(mount["name"] in named for each in pod["containers"] for mount in each["volumeMounts"])
    (group,) = documents[1]["spec"]["workerGroupSpecs"]
    assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]


def test_the_versions_in_the_manifests_are_those_of_the_lock() -> None:
    ray = pytest.importorskip("ray")
    assert f'rayVersion: "{ray.__version__}"' in (DEPLOY / "kuberay.yaml").read_text()


def test_the_script_is_read_by_the_shell() -> None:
    subprocess.run(["sh", "-n", DEPLOY / "slurm.sh"], check=True)
