// What the two examples share: the options of the connection, the client, and reading a saved position.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";

const PROTOS = fileURLToPath(new URL("../../../proto", import.meta.url));

const CONNECTION = {
  host: { type: "string", default: "127.0.0.1:50051" },
  token: { type: "string", default: process.env.ENGINE_TOKEN },
  ca: { type: "string" },
  protos: { type: "string", default: PROTOS },
};

/** Read the command line: one file, the connection's options and `more`. Ends the process if it is wrong. */
export function readArguments(usage, more) {
  try {
    const options = { ...CONNECTION, ...more };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (positionals.length !== 1) {
      throw new Error("expected one file with a position");
    }
    return { file: positionals[0], ...values };
  } catch (error) {
    console.error(`${error.message}\nusage: ${usage}`);
    process.exit(2);
  }
}

/** Return the number above 0, perhaps a whole one, that an option holds; end the process if it holds none. */
export function positive(name, text, { whole = false } = {}) {
  const number = Number(text);
  if (!(number > 0 && number < Infinity) || (whole && !Number.isInteger(number))) {
    console.error(`--${name}: ${text}; expected a ${whole ? "whole " : ""}number above 0`);
    process.exit(2);
  }
  return number;
}

/** Return a client of the service and the metadata that each of its calls needs. */
export function connect({ host, token, ca, protos }) {
  const definition = protoLoader.loadSync("mexica_ai/v1/engine.proto", {
    includeDirs: [protos],
    keepCase: true, // names as in the saved positions, to_move and not toMove
    longs: String, // 64 bits do not fit a number: seeds would change
    enums: String,
    defaults: true, // a 0 is there, not missing
    oneofs: true,
  });
  const { EngineService } = grpc.loadPackageDefinition(definition).mexica_ai.v1;
  const credentials = ca ? grpc.credentials.createSsl(readFileSync(ca)) : grpc.credentials.createInsecure();
  const metadata = new grpc.Metadata();
  if (token) {
    metadata.set("authorization", `Bearer ${token}`);
  }
  return { client: new EngineService(host, credentials), metadata };
}

/** Return a saved position as the message: `game` becomes the name of the field that holds the rest. */
export function readPosition(file) {
  const { game, ...position } = JSON.parse(readFileSync(file, "utf8"));
  return { [game]: position };
}

/** Describe one candidate turn, or a whole result, in a line. */
export function describe({ turn, value }) {
  const shares = (value ?? []).map((share) => share.toFixed(3)).join(" ");
  return `${(turn ?? []).join("; ")}  (value ${shares})`;
}

/** Say what went wrong with a call, in the words of the server. */
export function report(error) {
  console.error(`${grpc.status[error.code] ?? "error"}: ${error.details ?? error.message}`);
  process.exitCode = 1;
}

export { grpc };
