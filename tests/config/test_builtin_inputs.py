"""Built-in inputs are found by name, beside the package or inside it."""

from pathlib import Path

import pytest

from netsim.config import builtin_inputs


def test_a_name_finds_its_file_with_and_without_suffix() -> None:
    assert builtin_inputs.path("topologies", "fat_tree_k4_100g") == builtin_inputs.path(
        "topologies", "fat_tree_k4_100g.toml"
    )
    assert builtin_inputs.path("topologies", "fat_tree_k4_100g").is_file()


def test_a_wheel_carries_them_inside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inside = tmp_path / "netsim" / "_shipped" / "traces"
    inside.mkdir(parents=True)
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "other.jsonl").touch()
    for name in ("a.jsonl", "b.jsonl.gz", "notes.txt"):
        (inside / name).touch()
    monkeypatch.setattr(builtin_inputs, "__file__", str(tmp_path / "netsim" / "config" / "builtin_inputs.py"))
    assert builtin_inputs.names("traces") == ["a", "b"]
    assert builtin_inputs.path("traces", "b") == inside / "b.jsonl.gz"
