#!/usr/bin/python3
"""Compares redis/api.h, which declares what the module uses of the API of Redis modules, with the
redismodule.h of a server: every function has the same type there, every struct that is passed the
same layout, and every constant its value.

    redis/tool/check_api.py .../src/redismodule.h...

Nothing of a server is in this repository, because its header is not needed to build the module. A
compiler does the comparison. Functions that are optional may be missing, and are then named."""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent.parent
CONSTANTS = {
    "OK": "OK", "ERR": "ERR", "READ": "READ", "WRITE": "WRITE", "KEY_EMPTY": "KEYTYPE_EMPTY",
    "KEY_STRING": "KEYTYPE_STRING", "KEY_MODULE": "KEYTYPE_MODULE", "POSTPONED": "POSTPONED_LEN",
    "CTX_REPLICA": "CTX_FLAGS_SLAVE", "CTX_REPLICATED": "CTX_FLAGS_REPLICATED",
    "CTX_LOADING": "CTX_FLAGS_LOADING", "CTX_RESP3": "CTX_FLAGS_RESP3",
    "NOTIFY_GENERIC": "NOTIFY_GENERIC", "NOTIFY_MODULE": "NOTIFY_MODULE",
    "OPTION_IO_ERRORS": "OPTIONS_HANDLE_IO_ERRORS", "CONFIG_DEFAULT": "CONFIG_DEFAULT",
    "CONFIG_MEMORY": "CONFIG_MEMORY", "CONFIG_UNPREFIXED": "CONFIG_UNPREFIXED",
    "BEGIN_INDEX": "KSPEC_BS_INDEX", "FIND_RANGE": "KSPEC_FK_RANGE",
    "FIND_KEYNUM": "KSPEC_FK_KEYNUM", "KEY_RO": "CMD_KEY_RO", "KEY_RW": "CMD_KEY_RW",
    "KEY_OW": "CMD_KEY_OW", "KEY_ACCESS": "CMD_KEY_ACCESS", "KEY_UPDATE": "CMD_KEY_UPDATE",
    "KEY_INSERT": "CMD_KEY_INSERT", "KEY_DELETE": "CMD_KEY_DELETE",
    "KEY_INCOMPLETE": "CMD_KEY_INCOMPLETE", "ARGUMENT_STRING": "ARG_TYPE_STRING",
    "ARGUMENT_INTEGER": "ARG_TYPE_INTEGER", "ARGUMENT_DOUBLE": "ARG_TYPE_DOUBLE",
    "ARGUMENT_KEY": "ARG_TYPE_KEY", "ARGUMENT_TOKEN": "ARG_TYPE_PURE_TOKEN",
    "ARGUMENT_ONEOF": "ARG_TYPE_ONEOF", "ARGUMENT_BLOCK": "ARG_TYPE_BLOCK",
    "ARGUMENT_OPTIONAL": "CMD_ARG_OPTIONAL", "ARGUMENT_MULTIPLE": "CMD_ARG_MULTIPLE",
}
# Fields in the order of the server. Its names differ, so the places are compared.
FIELDS = {
    "struct redis_type_methods RedisModuleTypeMethods":
        "version rdb_load rdb_save aof_rewrite mem_usage digest free aux_load aux_save "
        "aux_save_triggers free_effort unlink copy defrag mem_usage2 free_effort2 unlink2 copy2",
    "struct redis_command_info RedisModuleCommandInfo":
        "version summary complexity since history tips arity keys:key_specs arguments:args",
    "struct redis_info_version RedisModuleCommandInfoVersion":
        "version history:sizeof_historyentry key_spec:sizeof_keyspec argument:sizeof_arg",
    "struct redis_history RedisModuleCommandHistoryEntry": "since changes",
    "struct redis_key_spec RedisModuleCommandKeySpec":
        "notes flags begin:begin_search_type from.index.pos:bs.index.pos find:find_keys_type "
        "from.keyword.keyword:bs.keyword.keyword from.keyword.start:bs.keyword.startfrom "
        "keys.range.last:fk.range.lastkey keys.range.step:fk.range.keystep "
        "keys.range.limit:fk.range.limit keys.keynum.index:fk.keynum.keynumidx "
        "keys.keynum.first:fk.keynum.firstkey keys.keynum.step:fk.keynum.keystep",
    "struct redis_argument RedisModuleCommandArg":
        "name type key_spec:key_spec_index token summary since flags deprecated:deprecated_since "
        "sub:subargs",
}


def functions(text):
    """[(optional, name)] of the table in api.h"""
    table = text[text.index("#define REDIS_API(X)"):text.index("#define REDIS_API_FIELD")]
    found = re.findall(r"\bX\((\d), [^,]+?, (\w+),", re.sub(r"\\\n", " ", table))
    assert len(found) == table.count(" X("), "the table is written otherwise now"
    return [(optional == "1", name) for optional, name in found]


def errors(lines, folder):
    """What a compiler refuses."""
    done = subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-fsyntax-only", "-w",
                           f"-I{folder}", "-x", "c", "-"], text=True,
                          input="\n".join(lines) + "\n", capture_output=True, check=False)
    found = re.findall(r"error: (.*)", done.stderr)
    assert bool(found) == (done.returncode != 0), done.stderr
    return found


def text_of(path):
    text = path.read_text()
    if "valkeymodule.h" in text:  # which redismodule.h includes, and gives its names the old form
        text += (path.parent / "valkeymodule.h").read_text()
    return text


def check(path, api):
    """(disagreements of the text of api.h, optional functions that the server lacks)"""
    text = text_of(path)
    lacks = [name for optional, name in functions(api)
             if optional and not re.search(rf"\(\* ?(Redis|Valkey)Module_{name}\)", text)]
    lines = ["#include <stddef.h>", f'#include "{path.resolve()}"']
    if "valkeymodule.h" in text:  # a name that its redismodule.h forgets
        lines.append("#define RedisModuleCommandInfoVersion ValkeyModuleCommandInfoVersion")
    lines.append(api)
    for _, name in functions(api):
        # The structs that two functions take have other names here; their layouts are compared
        # below.
        ours = {"CreateDataType":
                "redis_type *(*)(redis_ctx *, const char *, int, RedisModuleTypeMethods *)",
                "SetCommandInfo": "int (*)(redis_command *, const RedisModuleCommandInfo *)"}.get(
                    name, f"__typeof__(((struct redis_api *)0)->{name})")
        if name not in lacks:
            lines.append(f"_Static_assert(__builtin_types_compatible_p({ours}, "
                         f'__typeof__(RedisModule_{name})), "{name} has another type");')
    for ours, theirs in CONSTANTS.items():
        if ours != "CONFIG_UNPREFIXED" or "LoadDefaultConfigs" not in lacks:
            lines.append(f"_Static_assert((long long)REDIS_{ours} == "
                         f'(long long)REDISMODULE_{theirs}, "{ours} has another value");')
    for pair, fields in FIELDS.items():
        ours, theirs = pair.rsplit(" ", 1)
        for field in fields.split():
            here, there = field.split(":") if ":" in field else (field, field)
            lines.append(f"_Static_assert(offsetof({ours}, {here}) == offsetof({theirs}, {there}) "
                         f"&& sizeof((({ours} *)0)->{here}) == sizeof((({theirs} *)0)->{there}), "
                         f'"{ours}.{here} has another place or size");')
    return errors(lines, path.parent), lacks


def prove_itself(path, api):
    """A mistake of each sort in api.h is found."""
    for edit, to in ((r"(ReplyWithDouble, .*)double d", r"\1float d"),
                     (r"REDIS_WRITE = 2", "REDIS_WRITE = 3"), (r", CloseKey,", ", ShutKey,"),
                     (r"size_t \(\*mem_usage2\)", "int more; size_t (*mem_usage2)")):
        wrong, n = re.subn(edit, to, api)
        assert n == 1 and check(path, wrong)[0], f"not noticed: {to}"


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    api, failed = (HERE / "api.h").read_text(), False
    for name in sys.argv[1:]:
        prove_itself(pathlib.Path(name), api)
        found, lacks = check(pathlib.Path(name), api)
        failed = failed or bool(found)
        optional = f", without {', '.join(lacks)}" if lacks else ""
        print(f"{name}: " + ("; ".join(found) or f"agrees{optional}"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
