"""Stands in for grpcurl where that is not installed: `[-plaintext] [-d JSON|@] ADDRESS list|SERVICE/METHOD`.

Like grpcurl it knows of a server what reflection tells, and takes protobuf's JSON.
"""

import argparse
import sys

import grpc
from google.protobuf import descriptor_pool, json_format, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("-plaintext", action="store_true", required=True)
    parser.add_argument("-d", default="{}")
    parser.add_argument("address")
    parser.add_argument("symbol")
    args = parser.parse_args()
    with grpc.insecure_channel(args.address) as channel:
        database = ProtoReflectionDescriptorDatabase(channel)
        if args.symbol == "list":
            print("\n".join(sorted(database.get_services())))
            return
        service, _, name = args.symbol.partition("/")
        method = descriptor_pool.DescriptorPool(database).FindServiceByName(service).FindMethodByName(name)
        request = message_factory.GetMessageClass(method.input_type)()
        json_format.Parse(sys.stdin.read() if args.d == "@" else args.d, request)
        call = channel.unary_unary(
            f"/{service}/{name}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
        )
        print(json_format.MessageToJson(call(request, timeout=20)))


if __name__ == "__main__":
    main()
