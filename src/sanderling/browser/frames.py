"""Which frames of a page belong to its own site. Only these may use the user's session there.

A frame belongs to it if the frame and all frames around it have the page's origin, and the frame
never showed a document of another one. No script of another site can then have caused its requests:
a script may navigate its own frame and the frames in it, but not those around it or beside it.
"""

import msgspec


class _Frame(msgspec.Struct, rename="camel"):
    id: str
    loader_id: str = ""


class _Tree(msgspec.Struct, rename="camel"):
    frame: _Frame
    child_frames: list["_Tree"] = []


class _Answer(msgspec.Struct, rename="camel"):
    frame_tree: _Tree


_decode = msgspec.json.Decoder(_Answer).decode


def frames_around(answer: msgspec.Raw, frame: str) -> list[tuple[str, str]]:
    """A frame and those around it, with the ids of their documents, without that of the page; none
    if the page's process does not know the frame."""
    unread: list[tuple[_Tree, list[tuple[str, str]]]] = [(_decode(answer).frame_tree, [])]
    while unread:
        tree, around = unread.pop()
        for each in tree.child_frames:
            path = [*around, (each.frame.id, each.frame.loader_id)]
            if each.frame.id == frame:
                return path
            unread.append((each, path))
    return []
