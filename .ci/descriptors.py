"""Guards the wire contract: compares the protos with the committed descriptor set, and checks their form.

    .venv/bin/python .ci/descriptors.py check     says what is wrong, exit status 1; silent if nothing
    .venv/bin/python .ci/descriptors.py update    writes proto/descriptors.binpb anew, if nothing would break

``proto/descriptors.binpb`` holds the contract as last published: whatever talks by it must go on working, in
binary and in JSON, and code generated from it must go on compiling. So additions are fine, and everything
else is refused (`find_breaks`). The set also serves clients without reflection (``grpcurl -protoset``).
`find_faults` checks style: the rules of buf's STANDARD category that matter here, and that all is commented.

Needs ``grpcio-tools`` of the version that the build uses (pyproject.toml).
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    ServiceDescriptorProto,
)

ROOT = Path(__file__).resolve().parent.parent
PROTOS = ROOT / "proto"
COMMITTED = PROTOS / "descriptors.binpb"

PASCAL_CASE = r"[A-Z][A-Za-z0-9]*"
LOWER_SNAKE = r"[a-z][a-z0-9]*(_[a-z0-9]+)*"
UPPER_SNAKE = r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*"
SPELLED = {PASCAL_CASE: "PascalCase", LOWER_SNAKE: "lower_snake_case", UPPER_SNAKE: "UPPER_SNAKE_CASE"}


# Reading


def compile_protos(folder: Path = PROTOS, *, with_comments: bool = False) -> FileDescriptorSet:
    """Return the descriptors of all protos below a folder, in protoc's order."""
    from grpc_tools import protoc

    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.proto"))
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "set.binpb"
        options = ["--include_imports", f"--descriptor_set_out={out}"]
        if with_comments:
            options.append("--include_source_info")
        if protoc.main(["protoc", f"-I{folder}", *options, *names]) != 0:
            raise SystemExit("the protos do not compile")
        return FileDescriptorSet.FromString(out.read_bytes())


def read_committed(path: Path | None = None) -> FileDescriptorSet:
    """Return the committed descriptors."""
    return FileDescriptorSet.FromString((path or COMMITTED).read_bytes())


def to_bytes(descriptors: FileDescriptorSet) -> bytes:
    """Return the form that is committed, the same for the same protos."""
    return descriptors.SerializeToString(deterministic=True)


def _messages(file: FileDescriptorProto) -> dict[str, DescriptorProto]:
    """Return the messages of a file by full name, nested ones and those of maps included."""
    found = {}

    def add(prefix, messages):
        for message in messages:
            found[f"{prefix}{message.name}"] = message
            add(f"{prefix}{message.name}.", message.nested_type)

    add(_prefix(file), file.message_type)
    return found


def _enums(file: FileDescriptorProto) -> dict[str, EnumDescriptorProto]:
    found = {f"{_prefix(file)}{enum.name}": enum for enum in file.enum_type}
    for name, message in _messages(file).items():
        found |= {f"{name}.{enum.name}": enum for enum in message.enum_type}
    return found


def _syntax(file: FileDescriptorProto) -> str:
    return file.syntax or "proto2"


def _services(file: FileDescriptorProto) -> dict[str, ServiceDescriptorProto]:
    return {f"{_prefix(file)}{service.name}": service for service in file.service}


def _prefix(file: FileDescriptorProto) -> str:
    return f"{file.package}." if file.package else ""


def _by_name(descriptors, things):
    """Return (thing, name of its file) by full name, over all files."""
    return {name: (thing, file.name) for file in descriptors.file for name, thing in things(file).items()}


# What would break


def find_breaks(old: FileDescriptorSet, new: FileDescriptorSet) -> list[str]:
    """Return what `new` changes or takes away of `old`, a line each."""
    breaks = []
    new_files = {file.name: file for file in new.file}
    for file in old.file:
        if file.name not in new_files:
            breaks.append(f"{file.name}: the file is gone")
            continue
        for what, fact in (("package", lambda file: file.package), ("syntax", _syntax)):
            was, now = fact(file), fact(new_files[file.name])
            if was != now:
                breaks.append(f"{file.name}: {what} {was} is now {now}")
    for kind, things, compare in (
        ("message", _messages, _break_message),
        ("enum", _enums, _break_enum),
        ("service", _services, _break_service),
    ):
        now = _by_name(new, things)
        for name, (thing, file_name) in _by_name(old, things).items():
            if name not in now:
                breaks.append(f"{name}: the {kind} is gone")
                continue
            if now[name][1] != file_name:
                breaks.append(f"{name}: moved from {file_name} to {now[name][1]}")
            breaks += [f"{name}{fault}" for fault in compare(thing, now[name][0])]
    return breaks


def _break_message(old: DescriptorProto, new: DescriptorProto) -> Iterator[str]:
    if old.options.map_entry != new.options.map_entry:
        yield ": is a map's entry, or is one no more"
    by_number = {field.number: field for field in new.field}
    by_name = {field.name: field for field in new.field}
    for field in old.field:
        now = by_number.get(field.number)
        if field.name in by_name and by_name[field.name].number != field.number:
            yield f".{field.name}: number {field.number} is now {by_name[field.name].number}"
        elif now is None:
            yield f".{field.name}: the field is gone"
        if now is not None:
            yield from _break_field(old, field, new, now)
    yield from _break_reserved(old, new, new.field, last=0)


def _break_field(old, field, new, now):
    facts = {
        "name": lambda _, field: field.name,
        "JSON name": lambda _, field: field.json_name,
        "type": lambda _, field: _type_name(field),
        "label": lambda _, field: FieldDescriptorProto.Label.Name(field.label)[len("LABEL_") :].lower(),
        "presence": lambda _, field: "optional" if field.proto3_optional else "implicit",
        "oneof": lambda message, field: _oneof(message, field) or "none",
        "packing": lambda _, field: field.options.packed if field.options.HasField("packed") else "default",
        "default": lambda _, field: field.default_value or "none",
    }
    for what, fact in facts.items():
        was, is_now = fact(old, field), fact(new, now)
        if was != is_now:
            yield f".{field.name}: {what} {was} is now {is_now}"


def _type_name(field):
    if field.type_name:
        return field.type_name.lstrip(".")
    return FieldDescriptorProto.Type.Name(field.type)[len("TYPE_") :].lower()


def _oneof(message, field):
    """Return the name of the oneof that holds a field; `optional` makes one too, which does not count."""
    if not field.HasField("oneof_index") or field.proto3_optional:
        return None
    return message.oneof_decl[field.oneof_index].name


def _break_enum(old: EnumDescriptorProto, new: EnumDescriptorProto) -> Iterator[str]:
    now = {value.name: value.number for value in new.value}
    for value in old.value:
        if value.name not in now:
            yield f".{value.name}: the value is gone"
        elif now[value.name] != value.number:
            yield f".{value.name}: number {value.number} is now {now[value.name]}"
    yield from _break_reserved(old, new, new.value, last=1)


def _break_reserved(old, new, members, *, last):
    """Yield what was reserved and is not any more; `last` is 1 where a range's end belongs to it (enums)."""
    still = [(entry.start, entry.end + last) for entry in new.reserved_range]
    for entry in old.reserved_range:
        begin, end = entry.start, entry.end + last
        for member in members:
            if begin <= member.number < end:
                yield f".{member.name}: number {member.number} was reserved"
        if not _covers(still, begin, end):
            yield f": the numbers {begin} to {end - 1} are reserved no more"
    for name in old.reserved_name:
        if any(member.name == name for member in members):
            yield f".{name}: the name was reserved"
        elif name not in new.reserved_name:
            yield f": the name {name} is reserved no more"


def _covers(ranges, begin, end):
    for first, after in sorted(ranges):
        if first <= begin < after:
            begin = after
    return begin >= end


def _break_service(old: ServiceDescriptorProto, new: ServiceDescriptorProto) -> Iterator[str]:
    now = {method.name: method for method in new.method}
    for method in old.method:
        if method.name not in now:
            yield f".{method.name}: the method is gone"
            continue
        for what in ("input_type", "output_type", "client_streaming", "server_streaming"):
            was, is_now = getattr(method, what), getattr(now[method.name], what)
            if was != is_now:
                yield f".{method.name}: {what} {was} is now {is_now}"


# Form


def find_faults(descriptors: FileDescriptorSet) -> list[str]:
    """Return what breaks the rules of style, a line each; comments are checked where the files carry them."""
    faults = []
    uses: dict[str, list[str]] = {}
    for file in descriptors.file:
        if file.name.startswith("google/"):
            continue
        faults += [f"{file.name}: {fault}" for fault in _file_faults(file)]
        for service in file.service:
            for method in service.method:
                for type_name in (method.input_type, method.output_type):
                    uses.setdefault(type_name.lstrip("."), []).append(f"{service.name}.{method.name}")
    for name, methods in uses.items():
        if len(methods) > 1:
            faults.append(f"{name}: used by {' and '.join(methods)}; every method has messages of its own")
    return faults


def _file_faults(file):
    folder, _, base = file.name.rpartition("/")
    if file.package != folder.replace("/", "."):
        yield f"package {file.package} does not match the folder {folder}"
    if not re.fullmatch(r".*\.v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?", file.package):
        yield f"package {file.package} does not end in a version"
    if not re.fullmatch(LOWER_SNAKE + r"\.proto", base):
        yield "the file's name is not lower_snake_case"
    if _syntax(file) != "proto3":
        yield f"syntax {_syntax(file)}, expected proto3"
    if any(file.public_dependency) or any(file.weak_dependency):
        yield "public and weak imports are not used here"
    for message in _messages(file).values():
        if not message.options.map_entry:
            yield from _message_faults(message)
    for enum in _enums(file).values():
        yield from _enum_faults(enum)
    for service in file.service:
        yield from _service_faults(file, service)
    if file.HasField("source_code_info"):
        yield from _missing_comments(file)


def _message_faults(message):
    yield from _wrong_name(message.name, PASCAL_CASE)
    for field in message.field:
        yield from _wrong_name(field.name, LOWER_SNAKE, message.name)
    for oneof in sorted({_oneof(message, field) for field in message.field} - {None}):
        yield from _wrong_name(oneof, LOWER_SNAKE, message.name)


def _enum_faults(enum):
    yield from _wrong_name(enum.name, PASCAL_CASE)
    prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", enum.name).upper() + "_"
    if enum.options.allow_alias:
        yield f"{enum.name}: aliases are not used here"
    for value in enum.value:
        yield from _wrong_name(value.name, UPPER_SNAKE, enum.name)
        if not value.name.startswith(prefix):
            yield f"{enum.name}.{value.name}: does not begin with {prefix}"
        if (value.number == 0) != (value.name == f"{prefix}UNSPECIFIED"):
            yield f"{enum.name}.{value.name}: the value 0, and only that, is {prefix}UNSPECIFIED"


def _service_faults(file, service):
    yield from _wrong_name(service.name, PASCAL_CASE)
    if not service.name.endswith("Service"):
        yield f"{service.name}: does not end in Service"
    for method in service.method:
        yield from _wrong_name(method.name, PASCAL_CASE, service.name)
        for given, ending in ((method.input_type, "Request"), (method.output_type, "Response")):
            name = given.removeprefix(f".{file.package}.")
            if name not in (f"{method.name}{ending}", f"{service.name}{method.name}{ending}"):
                yield f"{service.name}.{method.name}: {name}, expected {method.name}{ending}"


def _wrong_name(name, pattern, owner=None):
    if not re.fullmatch(pattern, name):
        yield f"{f'{owner}.' if owner else ''}{name}: the name is not {SPELLED[pattern]}"


def _missing_comments(file):
    commented = {
        tuple(location.path)
        for location in file.source_code_info.location
        if location.leading_comments.strip() or location.trailing_comments.strip()
    }
    for path, name in _declarations(file):
        if path not in commented:
            yield f"{name}: has no comment"


def _declarations(file):
    """Yield (path in the source info, name) of everything in a file that a comment explains."""

    def in_enums(enums, path, prefix):
        for i, enum in enumerate(enums):
            place, name = (*path, i), f"{prefix}{enum.name}"
            yield place, name
            for j, value in enumerate(enum.value):
                yield (*place, EnumDescriptorProto.VALUE_FIELD_NUMBER, j), f"{name}.{value.name}"

    def in_messages(messages, path, prefix):
        for i, message in enumerate(messages):
            if message.options.map_entry:
                continue
            place, name = (*path, i), f"{prefix}{message.name}"
            yield place, name
            for j, field in enumerate(message.field):
                yield (*place, DescriptorProto.FIELD_FIELD_NUMBER, j), f"{name}.{field.name}"
            enums = (*place, DescriptorProto.ENUM_TYPE_FIELD_NUMBER)
            yield from in_enums(message.enum_type, enums, f"{name}.")
            nested = (*place, DescriptorProto.NESTED_TYPE_FIELD_NUMBER)
            yield from in_messages(message.nested_type, nested, f"{name}.")

    yield from in_enums(file.enum_type, (FileDescriptorProto.ENUM_TYPE_FIELD_NUMBER,), "")
    yield from in_messages(file.message_type, (FileDescriptorProto.MESSAGE_TYPE_FIELD_NUMBER,), "")
    for i, service in enumerate(file.service):
        place = (FileDescriptorProto.SERVICE_FIELD_NUMBER, i)
        yield place, service.name
        for j, method in enumerate(service.method):
            yield (*place, ServiceDescriptorProto.METHOD_FIELD_NUMBER, j), f"{service.name}.{method.name}"


# The command


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(description="Guard the wire contract; see the head of this file.")
    parser.add_argument("action", choices=("check", "update"))
    parser.add_argument("--force", action="store_true", help="update although it breaks the contract")
    args = parser.parse_args(argv)
    current = compile_protos()
    faults = find_faults(compile_protos(with_comments=True))
    if COMMITTED.exists() and not args.force:
        faults += find_breaks(read_committed(), current)
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        return 1
    if args.action == "update":
        COMMITTED.write_bytes(to_bytes(current))
    return 0


if __name__ == "__main__":
    sys.exit(main())
