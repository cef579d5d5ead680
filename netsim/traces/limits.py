"""How much one trace may hold: a damaged or hostile file ends in a message, not in a full memory."""

MAX_RANKS = 1 << 17  # 131,072: above the largest clusters that exist
MAX_OPERATIONS = 1 << 23  # logical operations, about 2 GB of them: 100 MB of a SimAI workload fit
MAX_NODES = 1 << 21  # of an execution graph
MAX_STATEMENTS = 1 << 22  # of a GOAL schedule, about 1.5 GB of them
MAX_CALLS = 1 << 22  # lines of ranks that report a call, about 2 GB of them
MAX_OPEN = 1 << 12  # communicators without an identity that wait for more ranks; joining them is quadratic
MAX_PARTS = 1 << 27  # operations times the ranks in each: what by_rank() lists
MAX_CELLS = 1 << 25  # flows and entries of size matrices, all operations together
MAX_CHANNEL = (1 << 15) - 2  # of a flow; channels are 16-bit numbers
MAX_BYTES = 1 << 50  # 1 PiB in one operation
MAX_NAME = 200  # characters of a name in a file
MAX_LINE = 1 << 24  # 16 MiB: a matrix of 1024 x 1024 sizes fits
MAX_LINES = 1 << 22  # lines of a native file, blank ones too
MAX_DEPTH = 16  # brackets inside brackets on one line; the format needs three
MAX_BRACKETS = 1 << 22  # brackets on one line: two million flows
MAX_UNPACKED = 1 << 30  # bytes that a .gz file may unpack to
MAX_UNPACKED_LINES = 1 << 24
