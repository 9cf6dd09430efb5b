"""Host names of all formats in one spelling."""

from __future__ import annotations

import pytest

from cepctl.io.contract.hosts import node_name


@pytest.mark.parametrize(
    ("raw", "node"),
    [
        ("n7", "n7"),
        ("/default-rack/n7.example.com", "n7.example.com"),
        ("/dc1/rack2/n7", "n7"),
        ("tracker_n7.example.com:localhost.localdomain/127.0.0.1:41234", "n7.example.com"),
        ("tracker_n7:41234", "n7"),
        ("n7.example.com.:50010", "n7.example.com"),
        ("10.0.0.7:45454", "10.0.0.7"),
        ("[fe80::1]:80", "fe80::1"),
        ("fe80::1", "fe80::1"),
        ("tracker_box", "tracker_box"),
        ("", None),
        (" ? ", None),
        ("/rack/", None),
        (None, None),
    ],
)
def test_rack_port_and_tracker_prefix_fall_away(raw: str | None, node: str | None) -> None:
    assert node_name(raw) == node


def test_the_domain_goes_only_on_request_and_never_from_an_address() -> None:
    assert node_name("/rack/n7.example.com", drop_domain=True) == "n7"
    assert node_name("10.0.0.7:80", drop_domain=True) == "10.0.0.7"
