"""One container's log in two views: the REST of its node, as Hadoop's log viewers read it, and
`selvedge logs`."""
import re
import urllib.parse
import urllib.request

# Apache's NodeManager puts the text into a frame; ours sends it as it is.
FRAME = re.compile(rb"\A[^\0]*?\nLogLength: *(\d+)\nLogContents:\n", re.S)


def of_rest(node_url, container, name, user):
    """The bytes that the node's container log REST sends."""
    query = urllib.parse.urlencode({"user.name": user})
    with urllib.request.urlopen(
        f"{node_url}/ws/v1/node/containerlogs/{container}/{name}?{query}", timeout=60
    ) as answer:
        text = answer.read()
    frame = FRAME.match(text)
    return text[frame.end() : frame.end() + int(frame[1])] if frame else text


def same_text(logs, node_url, container, user, wanted):
    """`logs(NAME)`: what `selvedge logs --log NAME` prints of the container. `wanted`: {name:
    text}, which both views must tell."""
    for name, text in wanted.items():
        rest, ours = of_rest(node_url, container, name, user).decode(), logs(name)
        assert (rest, ours) == (
            text,
            text,
        ), f"{container}, {name}: REST {rest!r}, selvedge logs {ours!r}, wanted {text!r}"
