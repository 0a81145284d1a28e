// The requests that Envoy 1.40.0 with examples/envoy sent to the rate limit service, recorded on the wire,
// with headers in their order and messages with the five bytes of the gRPC prefix.

export interface RecordedRequest {
  /** The request of a client to Envoy. */
  readonly cause: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** In base64. */
  readonly body: string
}

export const recordedRequests: readonly RecordedRequest[] = [
  {
    cause: 'the health check',
    headers: [
      [':method', 'POST'],
      [':path', '/grpc.health.v1.Health/Check'],
      [':authority', 'ratelimit'],
      [':scheme', 'http'],
      ['te', 'trailers'],
      ['content-type', 'application/grpc'],
      ['user-agent', 'Envoy/HC'],
      ['grpc-timeout', '1000m'],
    ],
    body: 'AAAAAAsKCXJhdGVsaW1pdA==',
  },
  {
    cause: 'GET /',
    headers: [
      [':method', 'POST'],
      [':path', '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'],
      [':authority', 'ratelimit'],
      [':scheme', 'http'],
      ['te', 'trailers'],
      ['grpc-timeout', '20m'],
      ['content-type', 'application/grpc'],
      ['x-envoy-internal', 'true'],
      ['x-forwarded-for', '192.0.2.2'],
      ['x-envoy-expected-rq-timeout-ms', '20'],
    ],
    body: 'AAAAACQKA3dlYhIdChsKDnJlbW90ZV9hZGRyZXNzEgkxMjcuMC4wLjE=',
  },
  {
    cause: 'GET /search?q=1 with x-api-key: k1',
    headers: [
      [':method', 'POST'],
      [':path', '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'],
      [':authority', 'ratelimit'],
      [':scheme', 'http'],
      ['te', 'trailers'],
      ['grpc-timeout', '20m'],
      ['content-type', 'application/grpc'],
      ['x-envoy-internal', 'true'],
      ['x-forwarded-for', '192.0.2.2'],
      ['x-envoy-expected-rq-timeout-ms', '20'],
    ],
    body: 'AAAAADUKA3dlYhIdChsKDnJlbW90ZV9hZGRyZXNzEgkxMjcuMC4wLjESDwoNCgdhcGlfa2V5EgJrMQ==',
  },
  {
    cause: 'POST /login',
    headers: [
      [':method', 'POST'],
      [':path', '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'],
      [':authority', 'ratelimit'],
      [':scheme', 'http'],
      ['te', 'trailers'],
      ['grpc-timeout', '20m'],
      ['content-type', 'application/grpc'],
      ['x-envoy-internal', 'true'],
      ['x-forwarded-for', '192.0.2.2'],
      ['x-envoy-expected-rq-timeout-ms', '20'],
    ],
    body: 'AAAAADoKA3dlYhIzChQKC2dlbmVyaWNfa2V5EgVsb2dpbgobCg5yZW1vdGVfYWRkcmVzcxIJMTI3LjAuMC4x',
  },
  {
    cause: 'GET /beta/x',
    headers: [
      [':method', 'POST'],
      [':path', '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'],
      [':authority', 'ratelimit'],
      [':scheme', 'http'],
      ['te', 'trailers'],
      ['grpc-timeout', '20m'],
      ['content-type', 'application/grpc'],
      ['x-envoy-internal', 'true'],
      ['x-forwarded-for', '192.0.2.2'],
      ['x-envoy-expected-rq-timeout-ms', '20'],
    ],
    body: 'AAAAABwKA3dlYhIVChMKC2dlbmVyaWNfa2V5EgRiZXRh',
  },
  {
    cause: 'GET /export',
    headers: [
      [':method', 'POST'],
      [':path', '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'],
      [':authority', 'ratelimit'],
      [':scheme', 'http'],
      ['te', 'trailers'],
      ['grpc-timeout', '20m'],
      ['content-type', 'application/grpc'],
      ['x-envoy-internal', 'true'],
      ['x-forwarded-for', '192.0.2.2'],
      ['x-envoy-expected-rq-timeout-ms', '20'],
    ],
    body: 'AAAAACIKA3dlYhIbChUKC2dlbmVyaWNfa2V5EgZleHBvcnQaAggF',
  },
  {
    cause: 'GET /search?q=1 with x-api-key: k1, where Envoy traces',
    headers: [
      [':method', 'POST'],
      [':path', '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'],
      [':authority', 'ratelimit'],
      [':scheme', 'http'],
      ['te', 'trailers'],
      ['grpc-timeout', '20m'],
      ['content-type', 'application/grpc'],
      ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-532c295c2aa4d558-01'],
      ['tracestate', ''],
      ['x-envoy-internal', 'true'],
      ['x-forwarded-for', '192.0.2.2'],
      ['x-envoy-expected-rq-timeout-ms', '20'],
    ],
    body: 'AAAAADUKA3dlYhIdChsKDnJlbW90ZV9hZGRyZXNzEgkxMjcuMC4wLjESDwoNCgdhcGlfa2V5EgJrMQ==',
  },
]
