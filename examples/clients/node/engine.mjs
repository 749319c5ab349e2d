// What the two examples share: the options of the connection, the client, and how to read and write a saved position.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";

const PROTOS = fileURLToPath(new URL("../../../proto", import.meta.url));
// Retries with backoff, and round robin over all addresses: what mexica-ai publishes for its clients.
const SERVICE_CONFIG = fileURLToPath(new URL("../../../mexica_ai/rpc/service_config.json", import.meta.url));

const CONNECTION = {
  host: { type: "string", default: "127.0.0.1:50051" },
  token: { type: "string", default: process.env.ENGINE_TOKEN },
  ca: { type: "string" },
  authority: { type: "string" },
  protos: { type: "string", default: PROTOS },
  "service-config": { type: "string", default: SERVICE_CONFIG },
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
export function connect({ host, token, ca, authority, protos, ...more }) {
  const definition = protoLoader.loadSync("mexica_ai/v1/engine.proto", {
    includeDirs: [protos],
    keepCase: true, // names as in the saved positions, to_move and not toMove
    longs: String, // 64 bits do not fit a number: seeds would change
    enums: String,
    defaults: true, // a 0 is there, not missing
    oneofs: true, // position.game names the game
  });
  const { EngineService } = grpc.loadPackageDefinition(definition).mexica_ai.v1;
  const credentials = ca ? grpc.credentials.createSsl(readFileSync(ca)) : grpc.credentials.createInsecure();
  const metadata = new grpc.Metadata();
  if (token) {
    metadata.set("authorization", `Bearer ${token}`);
  }
  const options = { "grpc.service_config": readFileSync(more["service-config"], "utf8") };
  if (authority) {
    options["grpc.ssl_target_name_override"] = authority; // the name in the certificate, where that is not the host
  }
  return { client: new EngineService(host, credentials, options), metadata };
}

/** Return a saved position as the message: `game` becomes the name of the field that holds the rest. */
export function readPosition(file) {
  const { game, ...position } = JSON.parse(readFileSync(file, "utf8"));
  return { [game]: position };
}

// What messages leave out and saved positions have as null, and lists that may be "not given" in saved positions.
const NULLS = { coatl: ["viewer", "ending"], tzolkin: ["viewer", "start_space"] };

/** Write the position of an answer to a file, as `mexica-ai` reads it: what readPosition does, backwards. */
export function writePosition(file, position) {
  const { game } = position;
  if (game === "json") {
    writeFileSync(file, position.json); // a game without messages of its own
    return;
  }
  const saved = { game, ...withoutOneofs(position[game]) };
  for (const key of NULLS[game] ?? []) {
    saved[key] ??= null;
  }
  if (saved.memory?.length === 0) {
    delete saved.memory;
  }
  if (saved.calpulli?.pool.length === 0) {
    delete saved.calpulli.pool;
  }
  if (saved.calpulli?.upcoming.length === 0 && saved.period === 1) {
    delete saved.calpulli.upcoming;
  }
  writeFileSync(file, JSON.stringify(saved));
}

/** Return a message without the keys that proto-loader adds: for each optional field `x` that is set, `_x` is "x". */
function withoutOneofs(value) {
  if (Array.isArray(value)) {
    return value.map(withoutOneofs);
  }
  if (value === null || typeof value !== "object") {
    return value;
  }
  const fields = Object.entries(value).filter(([key]) => !key.startsWith("_"));
  return Object.fromEntries(fields.map(([key, field]) => [key, withoutOneofs(field)]));
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
