// By hand, so that a server starts without the generated code and its library; tests compare them.

/** `envoy.service.ratelimit.v3.RateLimitResponse.Code`: the index is the number. */
export const codeNames: readonly string[] = ['UNKNOWN', 'OK', 'OVER_LIMIT']

/** `envoy.type.v3.RateLimitUnit`, which a caller sends. */
export const overrideUnitNames: readonly string[] = [
  'UNKNOWN',
  'SECOND',
  'MINUTE',
  'HOUR',
  'DAY',
  'MONTH',
  'YEAR',
]

/** `envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit`, which a caller gets. */
export const limitUnitNames: readonly string[] = [...overrideUnitNames, 'WEEK']
