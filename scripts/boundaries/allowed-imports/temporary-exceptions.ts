// What the lists do not refuse yet. Each entry goes when the code that it names is changed.

const auth = 'packages/auth/src'
const ratelimit = 'packages/ratelimit/src'

/** Modules that import each other; fewer of them may. */
export const knownCircles: readonly (readonly string[])[] = [
  [
    `${auth}/features/factors/factor-kind.ts`,
    `${auth}/features/factors/index.ts`,
    `${auth}/features/factors/member.ts`,
    `${auth}/features/factors/phone.ts`,
    `${auth}/features/factors/totp.ts`,
    `${auth}/features/factors/webauthn.ts`,
    `${auth}/features/sessions/sessions.ts`,
    `${auth}/features/sign-in/password-attempts.ts`,
    `${auth}/messages/requests/phone-codes.ts`,
    `${auth}/messages/requests/phone-gateway.ts`,
    `${auth}/services.ts`,
    `${auth}/tokens/access-tokens.ts`,
  ],
  [`${ratelimit}/rules/rule-table.ts`, `${ratelimit}/rules/statistics-key.ts`],
  [
    `${ratelimit}/counters/memcached/connection.ts`,
    `${ratelimit}/counters/memcached/link.ts`,
    `${ratelimit}/counters/memcached/operation-queue.ts`,
    `${ratelimit}/counters/memcached/operation.ts`,
  ],
  [
    `${ratelimit}/middleware/shared/header-styles.ts`,
    `${ratelimit}/middleware/shared/limited-answer.ts`,
    `${ratelimit}/middleware/shared/options.ts`,
  ],
]
