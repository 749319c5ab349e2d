"""The wire contract: the protos keep what was published, and the check that says so can fail.

``.ci/descriptors.py`` has the rules; each of them has a case here that breaks it.
"""

import importlib.util
from pathlib import Path

import pytest
from google.protobuf.descriptor_pool import DescriptorPool

pytest.importorskip("grpc_tools", reason="compiling protos needs grpcio-tools")

SCRIPT = Path(__file__).parents[2] / ".ci" / "descriptors.py"
spec = importlib.util.spec_from_file_location("descriptors", SCRIPT)
descriptors = importlib.util.module_from_spec(spec)
spec.loader.exec_module(descriptors)

HEAD = """\
// A file.
syntax = "proto3";
package toy.v1;
"""
FILE = (
    HEAD
    + """\
// Plays.
service ToyService {
  // Plays once.
  rpc Play(PlayRequest) returns (PlayResponse);
  // Watches.
  rpc Watch(WatchRequest) returns (stream WatchResponse);
}
// Asks to play.
message PlayRequest {
  reserved 7, 20 to 29;
  reserved "gone";
  // A part.
  message Part {
    // Its size.
    int32 size = 1;
  }
  // How often.
  int32 times = 1;
  // Whether at all.
  optional bool really = 2;
  // What with.
  oneof thing {
    // A name.
    string name = 3;
    // A part.
    Part part = 4;
  }
  // Weights.
  repeated double weights = 5;
  // By name.
  map<string, int32> by_name = 6;
  // A kind.
  Kind kind = 8;
}
// Answers.
message PlayResponse {}
// Asks to watch.
message WatchRequest {}
// Shows.
message WatchResponse {}
// A kind.
enum Kind {
  reserved 9;
  // None.
  KIND_UNSPECIFIED = 0;
  // Round.
  KIND_ROUND = 1;
  // Square.
  KIND_SQUARE = 2;
}
// The end.
"""
)
ALONE = """\
// Stays alone.
message Alone {
  // A number.
  int32 number = 1;
}
"""
# Pieces of it that several cases take away or put something before.
TIMES = "  // How often.\n  int32 times = 1;\n"
NAME = "    // A name.\n    string name = 3;\n"
WEIGHTS = "  // Weights.\n"
KIND = "  // A kind.\n  Kind"
ENTRY = "  message ByNameEntry { string key = 1; int32 value = 2; }\n"


def changed(*replacements):
    """Return the toy file with some text replaced, each of which must be there once."""
    text = FILE
    for old, new in replacements:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def compiled(folder, text=FILE, other=HEAD + ALONE, *, with_comments=False):
    """Return the descriptors of the toy files."""
    place = folder / "toy" / "v1"
    place.mkdir(parents=True, exist_ok=True)
    (place / "toy.proto").write_text(text)
    (place / "other.proto").write_text(other)
    return descriptors.compile_protos(folder, with_comments=with_comments)


# The project's own protos


def test_nothing_published_is_broken():
    assert descriptors.find_breaks(descriptors.read_committed(), descriptors.compile_protos()) == []


def test_the_protos_keep_to_the_style():
    assert descriptors.find_faults(descriptors.compile_protos(with_comments=True)) == []


def test_the_committed_set_is_complete_and_in_its_one_form():
    committed = descriptors.read_committed()
    assert descriptors.to_bytes(committed) == descriptors.COMMITTED.read_bytes()
    assert not any(file.HasField("source_code_info") for file in committed.file)
    pool = DescriptorPool()
    for file in committed.file:  # in an order in which each finds what it imports
        pool.Add(file)
    assert "BestTurn" in pool.FindServiceByName("mexica_ai.v1.EngineService").methods_by_name


def test_compiling_twice_gives_the_same_bytes():
    first, second = (descriptors.to_bytes(descriptors.compile_protos()) for _ in range(2))
    assert first == second


# What breaks: the replacements, and the line that names it, without the package


BREAKS = {
    "removed field": ([(TIMES, "")], "PlayRequest.times: the field is gone"),
    "renumbered field": ([("times = 1", "times = 9")], "PlayRequest.times: number 1 is now 9"),
    "renamed field": ([("int32 times", "int32 count")], "PlayRequest.times: name times is now count"),
    "JSON name": (
        [("times = 1;", 'times = 1 [json_name = "n"];')],
        "PlayRequest.times: JSON name times is now n",
    ),
    "type": ([("int32 times", "int64 times")], "PlayRequest.times: type int32 is now int64"),
    "number for an enum": (
        [("Kind kind = 8", "int32 kind = 8")],
        "PlayRequest.kind: type toy.v1.Kind is now int32",
    ),
    "another message": (
        [("Part part = 4", "PlayResponse part = 4")],
        "PlayRequest.part: type toy.v1.PlayRequest.Part is now toy.v1.PlayResponse",
    ),
    "label": (
        [("int32 times", "repeated int32 times")],
        "PlayRequest.times: label optional is now repeated",
    ),
    "presence lost": (
        [("optional bool really", "bool really")],
        "PlayRequest.really: presence optional is now implicit",
    ),
    "presence won": (
        [("int32 times", "optional int32 times")],
        "PlayRequest.times: presence implicit is now optional",
    ),
    "packing": (
        [("weights = 5;", "weights = 5 [packed = false];")],
        "PlayRequest.weights: packing default is now False",
    ),
    "out of a oneof": (
        [(NAME, ""), (WEIGHTS, "  string name = 3;\n" + WEIGHTS)],
        "PlayRequest.name: oneof thing is now none",
    ),
    "into a oneof": (
        [(TIMES, ""), (NAME, NAME + TIMES)],
        "PlayRequest.times: oneof none is now thing",
    ),
    "renamed oneof": ([("oneof thing", "oneof object")], "PlayRequest.name: oneof thing is now object"),
    "map's value": (
        [("map<string, int32>", "map<string, string>")],
        "PlayRequest.ByNameEntry.value: type int32 is now string",
    ),
    "list for a map": (
        [("  map<string, int32> by_name", ENTRY + "  repeated ByNameEntry by_name")],
        "PlayRequest.ByNameEntry: is a map's entry, or is one no more",
    ),
    "removed message": (
        [("message WatchRequest", "message LookRequest"), ("Watch(WatchRequest)", "Watch(LookRequest)")],
        "WatchRequest: the message is gone",
    ),
    "removed nested message": (
        [("message Part {", "message Piece {"), ("Part part = 4", "Piece part = 4")],
        "PlayRequest.Part: the message is gone",
    ),
    "removed enum": (
        [("enum Kind", "enum Sort"), ("Kind kind = 8", "Sort kind = 8")],
        "Kind: the enum is gone",
    ),
    "removed value": ([("  // Square.\n  KIND_SQUARE = 2;\n", "")], "Kind.KIND_SQUARE: the value is gone"),
    "renamed value": ([("KIND_SQUARE", "KIND_OBLONG")], "Kind.KIND_SQUARE: the value is gone"),
    "renumbered value": ([("KIND_SQUARE = 2", "KIND_SQUARE = 3")], "Kind.KIND_SQUARE: number 2 is now 3"),
    "removed service": ([("service ToyService", "service NewService")], "ToyService: the service is gone"),
    "removed method": (
        [("  // Plays once.\n  rpc Play(PlayRequest) returns (PlayResponse);\n", "")],
        "ToyService.Play: the method is gone",
    ),
    "method's request": (
        [("Play(PlayRequest)", "Play(WatchRequest)")],
        "ToyService.Play: input_type .toy.v1.PlayRequest is now .toy.v1.WatchRequest",
    ),
    "method's response": (
        [("returns (PlayResponse)", "returns (WatchRequest)")],
        "ToyService.Play: output_type .toy.v1.PlayResponse is now .toy.v1.WatchRequest",
    ),
    "stream of answers no more": (
        [("returns (stream WatchResponse)", "returns (WatchResponse)")],
        "ToyService.Watch: server_streaming True is now False",
    ),
    "stream of requests": (
        [("Watch(WatchRequest)", "Watch(stream WatchRequest)")],
        "ToyService.Watch: client_streaming False is now True",
    ),
    "reserved number used": (
        [("reserved 7, ", "reserved "), (KIND, "  int32 other = 7;\n" + KIND)],
        "PlayRequest.other: number 7 was reserved",
    ),
    "reserved range with a gap": (
        [("20 to 29", "20 to 24, 26 to 29")],
        "PlayRequest: the numbers 20 to 29 are reserved no more",
    ),
    "reserved name used": (
        [('  reserved "gone";\n', ""), (KIND, "  int32 gone = 10;\n" + KIND)],
        "PlayRequest.gone: the name was reserved",
    ),
    "reserved name free": ([('  reserved "gone";\n', "")], "PlayRequest: the name gone is reserved no more"),
    "reserved value used": (
        [("  reserved 9;\n", ""), ("KIND_SQUARE = 2;", "KIND_SQUARE = 2; KIND_OBLONG = 9;")],
        "Kind.KIND_OBLONG: number 9 was reserved",
    ),
    "reserved value free": ([("  reserved 9;\n", "")], "Kind: the numbers 9 to 9 are reserved no more"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_is_found(name, tmp_path):
    replacements, expected = BREAKS[name]
    breaks = descriptors.find_breaks(compiled(tmp_path), compiled(tmp_path, changed(*replacements)))
    assert f"toy.v1.{expected}" in breaks


def test_a_message_that_moved_to_another_file_is_found(tmp_path):
    old = compiled(tmp_path)
    breaks = descriptors.find_breaks(old, compiled(tmp_path, FILE + ALONE, HEAD))
    assert breaks == ["toy.v1.Alone: moved from toy/v1/other.proto to toy/v1/toy.proto"]


def test_a_file_that_is_gone_is_found(tmp_path):
    old = compiled(tmp_path)
    (tmp_path / "toy" / "v1" / "other.proto").unlink()
    breaks = descriptors.find_breaks(old, descriptors.compile_protos(tmp_path))
    assert breaks == ["toy/v1/other.proto: the file is gone", "toy.v1.Alone: the message is gone"]


@pytest.mark.parametrize(
    ("replacement", "expected"),
    [
        (("package toy.v1;", "package toy.v2;"), "toy/v1/other.proto: package toy.v1 is now toy.v2"),
        (('"proto3"', '"proto2"'), "toy/v1/other.proto: syntax proto3 is now proto2"),
    ],
)
def test_what_a_file_declares_stays(replacement, expected, tmp_path):
    old = compiled(tmp_path)
    breaks = descriptors.find_breaks(old, compiled(tmp_path, other=HEAD.replace(*replacement)))
    assert expected in breaks


ADDITIONS = {
    "field": [(KIND, "  int32 more = 10;\n" + KIND)],
    "field at the front": [(TIMES, "  int32 first = 11;\n" + TIMES)],
    "member of a oneof": [(NAME, NAME + "    int32 code = 12;\n")],
    "method and its messages": [
        ("  // Watches.", "  rpc End(EndRequest) returns (EndResponse);\n  // Watches."),
        ("// The end.\n", "message EndRequest {}\nmessage EndResponse {}\n"),
    ],
    "value": [("KIND_SQUARE = 2;", "KIND_SQUARE = 2; KIND_OBLONG = 3;")],
    "reserved": [("reserved 7, 20 to 29;", "reserved 7, 20 to 35, 50;")],
    "reserved in pieces": [("20 to 29", "20 to 24, 25 to 29")],
    "comment": [("// How often.", "// So often.")],
    "another order": [(TIMES, ""), (WEIGHTS, TIMES + WEIGHTS)],
}


@pytest.mark.parametrize("name", ADDITIONS)
def test_an_addition_is_no_break(name, tmp_path):
    new = compiled(tmp_path, changed(*ADDITIONS[name]), with_comments=True)
    assert descriptors.find_breaks(compiled(tmp_path), new) == []


# Style


def test_the_toy_has_no_faults(tmp_path):
    assert descriptors.find_faults(compiled(tmp_path, with_comments=True)) == []


FAULTS = {
    "message's name": (
        [("message PlayResponse", "message Play_response"), ("(PlayResponse)", "(Play_response)")],
        "Play_response: the name is not PascalCase",
    ),
    "field's name": (
        [("int32 times", "int32 howOften")],
        "PlayRequest.howOften: the name is not lower_",
    ),
    "oneof's name": ([("oneof thing", "oneof Thing")], "PlayRequest.Thing: the name is not lower_snake_case"),
    "enum's name": (
        [("enum Kind", "enum kind_of"), ("Kind kind = 8", "kind_of kind = 8")],
        "kind_of: the name is not PascalCase",
    ),
    "value's name": ([("KIND_ROUND", "KIND_Round")], "Kind.KIND_Round: the name is not UPPER_SNAKE_CASE"),
    "value's prefix": ([("KIND_ROUND", "ROUND")], "Kind.ROUND: does not begin with KIND_"),
    "zero": ([("KIND_UNSPECIFIED", "KIND_NONE")], "Kind.KIND_NONE: the value 0, and only that, is KIND_UNSP"),
    "service's name": ([("service ToyService", "service Toy")], "Toy: does not end in Service"),
    "method's name": ([("rpc Play(", "rpc play(")], "ToyService.play: the name is not PascalCase"),
    "request's name": (
        [("Play(PlayRequest)", "Play(WatchRequest)")],
        "ToyService.Play: WatchRequest, expected PlayRequest",
    ),
    "shared messages": (
        [("returns (PlayResponse)", "returns (WatchResponse)")],
        "toy.v1.WatchResponse: used by ToyService.Play and ToyService.Watch",
    ),
    "message's comment": ([("// Answers.\n", "")], "PlayResponse: has no comment"),
    "field's comment": ([("  // How often.\n", "")], "PlayRequest.times: has no comment"),
    "nested field's comment": ([("    // Its size.\n", "")], "PlayRequest.Part.size: has no comment"),
    "enum's comment": ([("// A kind.\nenum", "enum")], "Kind: has no comment"),
    "value's comment": ([("  // Round.\n", "")], "Kind.KIND_ROUND: has no comment"),
    "method's comment": ([("  // Plays once.\n", "")], "ToyService.Play: has no comment"),
    "service's comment": ([("// Plays.\n", "")], "ToyService: has no comment"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_style_is_found(name, tmp_path):
    replacements, expected = FAULTS[name]
    faults = descriptors.find_faults(compiled(tmp_path, changed(*replacements), with_comments=True))
    assert any(expected in fault for fault in faults), faults


@pytest.mark.parametrize(
    ("replacement", "expected"),
    [
        (("package toy.v1;", "package toys.v1;"), "package toys.v1 does not match the folder toy/v1"),
        (("package toy.v1;", "package toy;"), "package toy does not end in a version"),
        (('"proto3"', '"proto2"'), "syntax proto2, expected proto3"),
    ],
)
def test_a_fault_of_a_file_is_found(replacement, expected, tmp_path):
    faults = descriptors.find_faults(compiled(tmp_path, other=HEAD.replace(*replacement)))
    assert f"toy/v1/other.proto: {expected}" in faults


# The command


def test_an_update_refuses_to_break_the_contract(tmp_path, monkeypatch, capsys):
    committed = tmp_path / "descriptors.binpb"
    monkeypatch.setattr(descriptors, "COMMITTED", committed)
    assert descriptors.main(["update"]) == 0
    assert descriptors.main(["check"]) == 0
    published = descriptors.read_committed(committed)
    published.file[0].message_type.add(name="Withdrawn")
    committed.write_bytes(descriptors.to_bytes(published))
    for action in ("check", "update"):
        assert descriptors.main([action]) == 1
        assert "Withdrawn: the message is gone" in capsys.readouterr().err
    assert descriptors.main(["update", "--force"]) == 0
    assert descriptors.main(["check"]) == 0
