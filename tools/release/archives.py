"""Archives whose bytes depend on nothing but the names and contents of their files and on one date:
not on the umask, the owner, the order of a folder, or the time."""
import io
import lzma
import pathlib
import tarfile
import time
import zipfile


def files_below(folder):
    """The files of a folder by their names in it."""
    folder = pathlib.Path(folder)
    return {str(path.relative_to(folder)): path
            for path in sorted(folder.rglob("*")) if path.is_file()}


def mode_of(path):
    return 0o755 if path.stat().st_mode & 0o100 else 0o644


def write_tar(out, top, folder, epoch):
    """The files of a folder as TOP/... in a .tar.xz."""
    with lzma.open(out, "wb", preset=9) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, path in files_below(folder).items():
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size, member.mtime = path.stat().st_size, epoch
            member.mode = mode_of(path)
            archive.addfile(member, io.BytesIO(path.read_bytes()))


def write_zip(out, top, folder, epoch):
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, path in files_below(folder).items():
            member = zipfile.ZipInfo(f"{top}/{name}", time.gmtime(epoch)[:6])
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3  # Unix, whose modes follow
            member.external_attr = (0o100000 | mode_of(path)) << 16
            archive.writestr(member, path.read_bytes())
