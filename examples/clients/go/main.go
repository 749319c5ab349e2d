// Asks a server for the best turn of a saved position:  go run . -time 2 ../../mexica_midgame.json
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/local"
	_ "google.golang.org/grpc/health" // the service config asks for health checks
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	engine "mexica_ai/v1"
)

// What the call may take beyond its search: waiting for a free slot, and the way there and back.
const patience = 10 * time.Second

var (
	host          = flag.String("host", "127.0.0.1:50051", "the server")
	seconds       = flag.Float64("time", 1, "time of the search in seconds")
	ca            = flag.String("ca", "", "use TLS, and trust the authorities in this PEM file")
	authority     = flag.String("authority", "", "the name in the certificate, if it is not the host")
	serviceConfig = flag.String("service-config", "../../../mexica_ai/rpc/service_config.json", "the published service config")
)

func main() {
	flag.Parse()
	if flag.NArg() != 1 || *seconds <= 0 {
		fmt.Fprintln(os.Stderr, "usage: go run . [-time S] [-host HOST:PORT] [-ca ROOTS.pem [-authority NAME]] FILE")
		os.Exit(2)
	}
	if err := run(flag.Arg(0)); err != nil {
		report(err)
		os.Exit(1)
	}
}

func run(file string) error {
	position, err := readPosition(file)
	if err != nil {
		return err
	}
	connection, err := connect()
	if err != nil {
		return err
	}
	defer connection.Close()
	// Whatever is left of the deadline when the search begins caps it: an answer comes in time or not at all.
	searching := time.Duration(*seconds * float64(time.Second))
	ctx, cancel := context.WithTimeout(context.Background(), searching+patience)
	defer cancel()
	if token := os.Getenv("ENGINE_TOKEN"); token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	answer, err := engine.NewEngineServiceClient(connection).BestTurn(ctx, &engine.BestTurnRequest{
		Position: position,
		Limits:   &engine.Limits{TimeS: *seconds},
	})
	if err != nil {
		return err
	}
	result := answer.GetResult()
	fmt.Println(strings.Join(result.GetTurn(), "; "))
	fmt.Printf("%d iterations in %.2f s, %v\n", result.GetIterations(), result.GetSeconds(), result.GetStopReason())
	return nil
}

// connect opens a connection; without TLS only to this machine.
func connect() (*grpc.ClientConn, error) {
	config, err := os.ReadFile(*serviceConfig)
	if err != nil {
		return nil, err
	}
	security := local.NewCredentials()
	if *ca != "" {
		if security, err = credentials.NewClientTLSFromFile(*ca, *authority); err != nil {
			return nil, err
		}
	}
	return grpc.Dial(*host, grpc.WithTransportCredentials(security), grpc.WithDefaultServiceConfig(string(config)))
}

// readPosition reads a saved position: `game` becomes the name of the field that holds the rest.
func readPosition(file string) (*engine.Position, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	var game string
	if err := json.Unmarshal(fields["game"], &game); err != nil {
		return nil, fmt.Errorf("%s: no position, the key game is missing", file)
	}
	delete(fields, "game")
	wrapped, err := json.Marshal(map[string]interface{}{game: fields})
	if err != nil {
		return nil, err
	}
	position := &engine.Position{}
	return position, protojson.Unmarshal(wrapped, position)
}

// report says what went wrong with a call, in the words of the server, with its reason and the faults by field.
func report(err error) {
	failure, ok := status.FromError(err)
	if !ok {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Fprintf(os.Stderr, "%v: %s\n", failure.Code(), failure.Message())
	for _, detail := range failure.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			fmt.Fprintf(os.Stderr, "reason %s\n", detail.GetReason())
		case *errdetails.BadRequest:
			for _, fault := range detail.GetFieldViolations() {
				fmt.Fprintf(os.Stderr, "%s: %s\n", fault.GetField(), fault.GetDescription())
			}
		}
	}
}
