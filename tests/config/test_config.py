"""Config: what a file says arrives as typed values; each mistake is one line that names file, line, key and mend."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netsim.config import build_scenario, load_scenario, load_topology, load_trace
from netsim.config.document import LARGEST_FILE, Document, assignment, merged, parse
from netsim.config.scenario import Scenario
from netsim.errors import InputError
from netsim.topology import FatTree
from netsim.traces import write_native
from netsim.transport.settings import Transport
from netsim.units import UNLIMITED
from tests.inputs import refusal, refused
from tests.outcomes import trace_of
from tests.processes import loaded

HEAD = 'trace = "job.jsonl"\ntopology = "fat_tree_k4_100g"\n'
GIGABIT = 10**9


@pytest.fixture
def folder(here: Path) -> Path:
    write_native(trace_of(), here / "job.jsonl")
    return here


def read(text: str, *sets: str, topology: Any = None) -> Scenario:
    Path("s.toml").write_text(text)
    return load_scenario("s.toml", sets=sets, topology=topology)


def mistake(text: str, *sets: str) -> str:
    return str(refused(read, text, *sets))


def test_a_whole_scenario_file(folder: Path) -> None:
    scenario = read(f"""
{HEAD}
seed = 13
chunk = "64KiB"
[packet]
payload = "1KiB"
[transport]
control = "window"
window = 12
timeout = "1ms"
[routing]
kind = "single"
[algorithms]
all_reduce = "tree"
[placement]
kind = "random"
""")
    assert (scenario.seed, scenario.chunk, scenario.packet.payload) == (13, 65536, 1024)
    assert scenario.transport == Transport(control="window", window=12, timeout=10**9)
    assert (scenario.routing.kind, scenario.placement.kind) == ("single", "random")
    assert scenario.algorithms == {"all_reduce": "tree"}
    assert scenario.trace.digest() == trace_of().digest()


def test_paths_are_relative_to_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mine.toml").write_text('base = "fat_tree_k4_100g"\nrate = "50Gb/s"\n')
    (folder / "s.toml").write_text('trace = "job.jsonl"\ntopology = "mine.toml"\n')
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    scenario = load_scenario(folder / "s.toml")
    assert scenario.topology.rate == 50 * GIGABIT
    assert scenario.topology.name == "mine"
    write_native(trace_of(4), folder / "elsewhere" / "other.jsonl")
    assert load_scenario(folder / "s.toml", sets=["trace=other.jsonl"]).trace.ranks == 4


def test_a_base_and_what_differs() -> None:
    base = load_topology("fat_tree_k4_100g")
    changed = load_topology({"base": "fat_tree_k4_100g", "ecn": {"kmin": "10KB"}, "tor": {"rate": "400Gb/s"}})
    assert isinstance(changed, FatTree)
    assert changed.ecn.kmin == 10_000
    assert changed.ecn.kmax == base.ecn.kmax  # tables are joined, not replaced
    assert changed.tor.rate == 400 * GIGABIT
    assert (changed.k, changed.rate, changed.name) == (4, base.rate, base.name)


def test_a_topology_without_base() -> None:
    topology = load_topology({"kind": "fat_tree", "k": 4})
    assert topology == FatTree(k=4)
    assert load_topology(topology) is topology
    assert load_topology(topology, sets=["k=8"]) == FatTree(k=8)


SETS = [
    ("topology.buffer=unlimited", lambda s: s.topology.buffer, UNLIMITED),
    ("topology.ecn.kmin=5KB", lambda s: s.topology.ecn.kmin, 5000),
    ("topology.tor.rate=400Gb/s", lambda s: s.topology.tor.rate, 400 * GIGABIT),
    ("topology=leaf_spine_32_4to1", lambda s: s.topology.name, "leaf_spine_32_4to1"),
    ("transport.control=none", lambda s: s.transport.control, "none"),
    ("transport=window", lambda s: s.transport.control, "window"),
    ("transport.window=7", lambda s: s.transport.window, 7),
    ("routing.kind=single", lambda s: s.routing.kind, "single"),
    ("routing.pxn=false", lambda s: s.routing.pxn, False),
    ("algorithms.all_reduce=tree", lambda s: s.algorithms, {"all_reduce": "tree"}),
    ("placement=random", lambda s: s.placement.kind, "random"),
    ("packet.payload=1KiB", lambda s: s.packet.payload, 1024),
    ("seed=99", lambda s: s.seed, 99),
    (" seed = 98 ", lambda s: s.seed, 98),
]


@pytest.mark.parametrize(("setting", "value_of", "value"), SETS, ids=[each[0] for each in SETS])
def test_set_reaches_every_part(folder: Path, setting: str, value_of: Any, value: object) -> None:
    text = f"{HEAD}[transport]\ncontrol = 'dctcp'\n"
    assert value_of(read(text)) != value
    assert value_of(read(text, setting)) == value
    assert value_of(build_scenario("job.jsonl", "fat_tree_k4_100g", sets=[setting])) == value
    topology = load_topology("fat_tree_k4_100g")
    assert value_of(build_scenario(trace_of(), topology, sets=[setting], transport=Transport())) == value


def test_later_settings_win(folder: Path) -> None:
    scenario = read(HEAD, "topology.buffer=1MB", "topology=fat_tree_k8_100g", "topology.rate=7Gb/s", "seed=3", "seed=4")
    assert (scenario.topology.buffer, scenario.topology.rate) == (112_000, 7 * GIGABIT)  # kmax
    assert scenario.seed == 4


def test_another_topology_for_a_file(folder: Path) -> None:
    text = 'trace = "job.jsonl"\n[topology]\nbase = "no such thing"\n'
    assert read(text, topology="leaf_spine_32_1to1").topology.name == "leaf_spine_32_1to1"
    text = 'trace = "job.jsonl"\ntransport = "dctcp"'
    assert read(text, topology={"kind": "fat_tree", "k": 4}).topology == FatTree(k=4)


TABLE = 'trace = "job.jsonl"\n[topology]\nbase = "fat_tree_k4_100g"\n'
MISTAKES = [
    (HEAD + "sed = 3", "line 3: unknown key 'sed'; did you mean 'seed'?"),
    (HEAD + '[transport]\n\n# why\ncontrl = "none"', "line 6: unknown key 'transport.contrl'; did you mean 'control'?"),
    (HEAD + '[transport]\ncontrol = "non"', "line 4: transport.control: no control 'non'; did you mean 'none'?"),
    (HEAD + '[packet]\npayload = "4 furlongs"', "line 4: packet.payload: '4 furlongs' has the unknown unit 'furlongs'"),
    (HEAD + "packet = { header = 1, payload = 0 }", "line 3: packet.payload = 0 is not greater than 0"),
    (TABLE + "rate = 400", 'line 4: topology.rate: 400 has no unit; write a rate like "400Gb/s"'),
    (TABLE + '[topology.tor]\n"rat" = "1Gb/s"', "line 5: unknown key 'topology.tor.rat'; did you mean 'rate'?"),
    (TABLE + "ecn.kmn = 3", "line 4: unknown key 'topology.ecn.kmn'; did you mean 'kmin'?"),
    (TABLE + "nodes = 3\nlinks = 4", "line 4: unknown key 'topology.nodes' (and 1 more); one of: agg, "),
    (
        'trace = "job.jsonl"\n[topology]\nkind = "fattree"',
        "line 3: topology.kind = 'fattree' is unknown; did you mean 'fat_tree'?",
    ),
    ('trace = "job.jsonl"\n[topology]\nkind = "fat_tree"', "line 2: no topology.k; add k = ..."),
    ('trace = "job.jsonl"\n[topology]\nk = 4', 'line 2: no kind; add kind = "fat_tree", or a base'),
    ('trace = "job.jsonl"\ntopology = 4', "line 2: 4 is no topology; give a name, a file or a table"),
    (
        'trace = "job.jsonl"\ntopology = "fat_tree_k4"',
        "line 2: no file and no built-in topology is called 'fat_tree_k4'; did you",
    ),
    ('trace = "x/t.jsonl"\ntopology = "fat_tree_k4_100g"', "line 1: there is no file 'x/t.jsonl'; check the path"),
    (
        'trace = "pern16"\ntopology = "fat_tree_k4_100g"',
        "line 1: no file and no built-in trace is called 'pern16'; did you mean 'perm16'?",
    ),
    ('trace = []\ntopology = "fat_tree_k4_100g"', "line 1: [] is no trace; give a name, a file or a list of files"),
    ('topology = "fat_tree_k4_100g"', 's.toml: no trace; add trace = "perm16"'),
    ('trace = "perm16"', 's.toml: no topology; add topology = "fat_tree_k4_100g"'),
    (
        HEAD + "rate = 400Gb/s",
        "line 3: is not TOML: expected newline or end of document after a statement in 'rate = 400Gb/s'; ",
    ),
    (
        HEAD + "seed = 1\nseed = 2",
        "line 4: is not TOML: cannot overwrite a value in 'seed = 2'; each key may be written once",
    ),
    (HEAD + "[transport\n", "line 3: is not TOML: expected ']' at the end of a table declaration in '[transport'"),
    (HEAD + 'seed = """abc', "line 3: is not TOML"),
    (HEAD + "x = " + "[" * 5000, "s.toml: is nested too deeply"),
    (
        HEAD + '[algorithms]\nall_reduce = "rng"',
        "line 3: algorithms: all_reduce has no algorithm 'rng'; did you mean 'ring'?",
    ),
    (HEAD + '[placement]\nkind = "lst"', "line 4: placement.kind = 'lst' is unknown; did you mean 'list'?"),
    (HEAD + '[routing]\nkind = "ecpm"', "line 4: routing.kind = 'ecpm' is unknown; did you mean 'ecmp'?"),
    (HEAD + 'routing = "ecpm"', "line 3: routing.kind = 'ecpm' is unknown"),
    (HEAD + '[transport]\nwindow = "bpd"', "line 4: transport.window = 'bpd' is not a valid integer or 'bdp'; "),
    (HEAD + "[packet]\npayload = 0\nack = 0", "packet.payload = 0 is not greater than 0 (and 1 more)"),
    (HEAD + 'seed = "' + "x" * 500 + '"', "line 3: seed = 'xxxx"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES, ids=[each[1][:60] for each in MISTAKES])
def test_a_mistake_in_a_file_is_one_line(folder: Path, text: str, message: str) -> None:
    assert message in mistake(text)
    assert len(mistake(text)) < 400


WRONG_SETS = [
    ("topology.ecn.kmn=1KB", "--set topology.ecn.kmn=1KB: unknown key 'topology.ecn.kmn'; did you mean 'kmin'?"),
    ("topology.rate=4", '--set topology.rate=4: topology.rate: 4 has no unit; write a rate like "400Gb/s"'),
    ("transport=non", "--set transport=non: no transport preset and no control is called 'non'; did you mean 'none'?"),
    ("transport.preset=roec", "--set transport.preset=roec: transport.preset: no preset 'roec'; did you mean 'roce'?"),
    ("sed=3", "--set sed=3: unknown key 'sed'; did you mean 'seed'?"),
    ("seed=abc", "--set seed=abc: seed = 'abc' is not a valid integer"),
    ("topology.base=fat_tree_k8_100g", "a base is not changed alone; write --set topology=NAME"),
    ("topology=fat_tree_k5_100g", "--set topology=fat_tree_k5_100g: no file and no built-in topology"),
    ("trace=nothing.jsonl", "--set trace=nothing.jsonl: no file and no built-in trace is called 'nothing.jsonl'"),
    ("seed", "--set: 'seed' is not PATH=VALUE; write --set transport.control=none"),
    ("=3", "--set: '=3' is not PATH=VALUE"),
    ("a..b=3", "--set: 'a..b=3' is not PATH=VALUE"),
]


@pytest.mark.parametrize(("setting", "message"), WRONG_SETS, ids=[each[0] for each in WRONG_SETS])
def test_a_mistake_in_a_setting_names_the_setting(folder: Path, setting: str, message: str) -> None:
    assert message in mistake(HEAD, setting)


def test_a_mistake_in_the_topology_file_names_that_file(folder: Path) -> None:
    (folder / "mine.toml").write_text('# mine\nbase = "fat_tree_k4_100g"\n\nbufer = "1KB"\n')
    assert "mine.toml, line 4: unknown key 'topology.bufer'" in mistake('trace = "job.jsonl"\ntopology = "mine.toml"\n')
    assert "mine.toml, line 4: unknown key 'bufer'; did you mean 'buffer'?" in refusal(load_topology, "mine.toml")


def test_bases_in_a_circle_end(folder: Path) -> None:
    (folder / "a.toml").write_text('base = "b.toml"\n')
    (folder / "b.toml").write_text('base = "a.toml"\n')
    assert "line 1: each base names another base; let one file state its kind" in refusal(load_topology, "a.toml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"# " + b"x" * LARGEST_FILE, "is larger than 1 MiB"),
        (b"\x00", "is not TOML"),
    ],
)
def test_other_files_are_refused(folder: Path, content: bytes, message: str) -> None:
    (folder / "other.toml").write_bytes(content)
    assert message in refusal(load_topology, "other.toml")


def test_no_such_files(folder: Path) -> None:
    for name in ("none.toml", "none/run.json"):
        assert "No such file or directory; check the path" in refusal(load_scenario, name)
    assert "there is no file" in refusal(load_topology, folder)
    (folder / "other.json").write_text("[1, 2]")
    assert "is not a saved run" in refusal(load_scenario, "other.json")


def test_a_trace_of_several_files_or_one(folder: Path) -> None:
    assert load_trace("job.jsonl").digest() == load_trace(["job.jsonl"]).digest() == trace_of().digest()
    assert load_trace("perm16").ranks == 16
    trace = trace_of()
    assert load_trace(trace) is trace


def test_windows_line_ends_and_byte_order_mark(folder: Path) -> None:
    (folder / "s.toml").write_bytes(b"\xef\xbb\xbf" + HEAD.replace("\n", "\r\n").encode() + b"sed = 3\r\n")
    assert "line 3: unknown key 'sed'" in refusal(load_scenario, "s.toml")


def test_lines_of_keys_in_every_form() -> None:
    text = """# a page
a = 1
b = [
  1, # ]
  2,
]
c = '''
a = 9
'''
d.e = 2
[f]   # table
g = { h = 3 }

[[rows]]
x = 1
[rows.more]
y = 1
[[rows]]
x = 2
["quoted.key".k]
z = 1
"""
    places = parse(text, "t").places
    lines = {keys: int(place.rpartition(" ")[2]) for keys, place in places.items()}
    assert lines == {
        ("a",): 2, ("b",): 3, ("c",): 7, ("d",): 10, ("d", "e"): 10, ("f",): 11, ("f", "g"): 12, ("f", "g", "h"): 12,
        ("rows", 0): 14, ("rows", 0, "x"): 15, ("rows", 0, "more"): 16, ("rows", 0, "more", "y"): 17,
        ("rows", 1): 18, ("rows", 1, "x"): 19, ("quoted.key", "k"): 20, ("quoted.key", "k", "z"): 21,
    }  # fmt: skip


def test_a_long_list_costs_little() -> None:
    text = "order = [\n" + "".join(f"  {host},\n" for host in range(100_000)) + "]\nlast = 1\n"
    places = parse(text, "t").places  # must not read the file again for each of its lines
    assert places[("order",)] == "t, line 1"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("true", True),
        ("[1, 2]", [1, 2]),
        ("none", "none"),
        ("400Gb/s", "400Gb/s"),
        ('"3"', "3"),
        ("", ""),
        ("a=b", "a=b"),
        ("1\nb = 2", "1\nb = 2"),
    ],
)
def test_the_value_of_a_setting(text: str, value: object) -> None:
    assert assignment(f"a.b={text}").values == {"a": {"b": value}}


def error_of(function: Callable[..., Document], *arguments: str) -> InputError | None:
    try:
        function(*arguments)
    except InputError as error:
        return error
    return None


@given(st.text(max_size=30))
def test_any_text_is_a_setting_or_refused(text: str) -> None:
    error = error_of(assignment, text)
    assert error is None or "is not PATH=VALUE" in error.what


@given(st.text(max_size=60))
def test_any_text_is_toml_or_refused(text: str) -> None:
    error = error_of(parse, text, "t")
    assert error is None or error.where.startswith("t")


def test_tables_are_joined_and_other_values_replaced() -> None:
    under = Document({"a": {"b": 1, "c": 2}, "d": [1], "e": 1}, {("a", "b"): "one", ("e",): "one"})
    over = Document({"a": {"b": 3}, "d": [2], "e": {"f": 1}}, {("a", "b"): "two", ("e", "f"): "two"})
    joined = merged(under, over)
    assert joined.values == {"a": {"b": 3, "c": 2}, "d": [2], "e": {"f": 1}}
    assert joined.places == {("a", "b"): "two", ("e", "f"): "two"}
    assert under.values["a"] == {"b": 1, "c": 2}


def test_reading_a_scenario_needs_no_heavy_library() -> None:
    assert not {"pandas", "pyarrow", "networkx", "numba", "simpy"} & loaded("import netsim.config")
