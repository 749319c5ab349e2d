"""The door for HTTP and JSON: the methods of the service under the paths that `google.api.http` gives them."""
