"""Puts empty libraries in place of the CUDA libraries (2.5 GB) that PyTorch's wheel from PyPI is linked with.

Usage: stub_cuda.py SITE_PACKAGES       (needs cc and nm)

They define the symbols that torch's libraries ask for, each as a function that aborts. So `import torch` works, and
everything on the CPU is PyTorch's own code. libcudart and libcupti run when torch is loaded, so these must be the real ones.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# Symbols without a version, and those whose version is not the name of their library.
BY_PREFIX = {"cusparseLt": "cusparseLt", "nccl": "nccl", "cuFile": "cufile", "nvshmem": "nvshmem_host"}
REAL = {"cudart", "cupti"}
CUDA = re.compile(r"lib(cu\w+|nccl|nvrtc|nvshmem_host)\.so\.\d+")


def needed(library):
    return re.findall(r"\[([^\]]+)\]", subprocess.run(
        ["readelf", "-d", library], capture_output=True, text=True, check=True).stdout)


def undefined(library):
    listing = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        name, _, version = line.split()[-1].partition("@")
        yield name, version


def library_of(name, version, sonames):
    stem = next((stem for prefix, stem in BY_PREFIX.items() if name.startswith(prefix)), None)
    return sonames.get(stem) if stem else version if version in sonames.values() else None


def write_stub(folder, soname, symbols):
    with tempfile.TemporaryDirectory() as work:
        source, script = pathlib.Path(work, "stub.c"), pathlib.Path(work, "stub.map")
        names = sorted({name for name, _ in symbols})
        source.write_text("void abort(void);\n" + "".join(f"void {name}(void) {{ abort(); }}\n" for name in names))
        versions = sorted({version for _, version in symbols if version})
        script.write_text("".join(
            f"{version} {{ global: {''.join(f'{name};' for name, of in sorted(symbols) if of == version)} }};\n"
            for version in versions))
        extra = [f"-Wl,--version-script={script}"] if versions else []
        subprocess.run(["cc", "-shared", "-fPIC", "-fno-builtin", "-w", "-o", folder / soname, source,
                        f"-Wl,-soname,{soname}", *extra], check=True)


def main(site):
    folder = pathlib.Path(site, "torch", "lib")
    libraries = sorted(folder.glob("libtorch*.so")) + sorted(folder.glob("libc*.so"))
    wanted = {soname for library in libraries for soname in needed(library) if CUDA.fullmatch(soname)}
    sonames = {CUDA.fullmatch(soname)[1]: soname for soname in wanted}
    stubs = {soname: set() for stem, soname in sonames.items() if stem not in REAL}
    for library in libraries:
        for name, version in undefined(library):
            soname = library_of(name, version, sonames)
            if soname in stubs:
                stubs[soname].add((name, version))
    for soname, symbols in sorted(stubs.items()):
        write_stub(folder, soname, symbols)
    print(f"{folder}: {len(stubs)} empty CUDA libraries")


if __name__ == "__main__":
    main(sys.argv[1])
