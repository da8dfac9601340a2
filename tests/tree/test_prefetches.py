"""Bulk calls prefetch. A compiler may drop calls of a function that only prefetches, because they
have no effect, and no answer shows it (TAMIS__PREFETCHES in src/kernels/kernels.h). So this test
reads the machine code: each of these functions contains a prefetch.

The functions are those of a release build by gcc for x86-64. TAMIS_BUILD: the directory of one."""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

FUNCTIONS = """
avx2_line_add avx2_line_query avx512_line_add avx512_line_query scalar_line_add scalar_line_query
tamis__probe_add tamis__probe_prefetch
counting_add counting_query counting_count
cuckoo_add cuckoo_query cuckoo_count
growing_add growing_in_c_query growing_popcnt_query growing_pdep_query
tamis__fuse_aim tamis__fuse_aim_avx512 tamis__ribbon_ask tamis__ribbon_prefetch map_prefetch
count_min_add count_min_count tally_add tally_count top_add top_count
distinct_prefetch tamis__hash_group
"""


def main():
    archive = os.path.join(os.environ.get("TAMIS_BUILD", "build"), "libtamis.a")
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", archive], check=True,
                          capture_output=True, text=True).stdout
    prefetches = {}
    for name, body in re.findall(r"^[0-9a-f]+ <([^>]+)>:\n(.*?)(?=^$|\Z)", code, re.M | re.S):
        name = name.split(".")[0]
        prefetches[name] = prefetches.get(name, 0) + len(re.findall(r"\tprefetch", body))
    wrong = [name for name in FUNCTIONS.split() if not prefetches.get(name)]
    for name in wrong:
        print(f"{name} does not prefetch" if name in prefetches else f"there is no {name}")
    return 1 if wrong else 0


sys.exit(main())
