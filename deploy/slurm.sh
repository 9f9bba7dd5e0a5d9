#!/bin/sh
# A crawl on nodes of Slurm: sbatch --nodes 4 deploy/slurm.sh https://example.org/ -d example
# The first node runs the head and the server, the others run clients. All see the same home folder.
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=4
set -eu

sanderling=${SANDERLING:-sanderling}
hosts=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
first=$(echo "$hosts" | head -n 1)
own=$(srun --nodes 1 --ntasks 1 --nodelist "$first" hostname -I | cut -d' ' -f1)
[ -e "${SANDERLING_CLUSTER:-$HOME/.config/sanderling/cluster}/ca.pem" ] || "$sanderling" cluster init

srun --overlap --nodes 1 --ntasks 1 --nodelist "$first" \
    "$sanderling" cluster start --own "$own" --name "$first" --weight 0 &
until "$sanderling" cluster status >/dev/null 2>&1; do sleep 2; done
for host in $(echo "$hosts" | tail -n +2); do
    srun --overlap --nodes 1 --ntasks 1 --nodelist "$host" "$sanderling" cluster join "$own:6380" --name "$host" &
done

srun --overlap --nodes 1 --ntasks 1 --nodelist "$first" \
    "$sanderling" crawl --cluster auto --clients "$(((SLURM_NNODES - 1) * SLURM_CPUS_PER_TASK))" "$@"
