"""What the path of a log says about its container.

pods/NAMESPACE_POD_UID/CONTAINER/0.log               namespace, pod, container
containers/POD_NAMESPACE_CONTAINER-ID.log            the same, container_id
containers/ID/ID-json.log                            container_id
"""

from __future__ import annotations

import re

from cepctl.io.contract.natural_columns import Value

_POD = re.compile(
    r"(?:^|/)(?P<namespace>[a-z0-9-]+)_(?P<pod>[a-z0-9.-]+)_[0-9a-f-]{8,64}/(?P<container>[a-z0-9-]+)/[^/]+"
)
_LINK = re.compile(
    r"(?:^|/)(?P<pod>[a-z0-9.-]+)_(?P<namespace>[a-z0-9-]+)_(?P<container>[a-z0-9-]+)"
    r"-(?P<container_id>[0-9a-f]{64})\.log[^/]*"
)
_DOCKER = re.compile(r"(?:^|/)(?P<container_id>[0-9a-f]{64})-json\.log[^/]*")


def container_origin(path: str) -> dict[str, Value]:
    """What a path tells.

    Examples
    --------
    >>> container_origin("pods/shop_api-7d9_0f5c8a52-1/web/0.log")
    {'namespace': 'shop', 'pod': 'api-7d9', 'container': 'web'}
    >>> container_origin("web.log")
    {}
    """
    found = _POD.search(path) or _LINK.search(path) or _DOCKER.search(path)
    return dict(found.groupdict()) if found else {}
