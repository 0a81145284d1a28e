// What the lists do not refuse yet. Each entry goes when the code that it names is changed.

const ratelimit = 'packages/ratelimit/src'

/** Modules that import each other; fewer of them may. */
export const knownCircles: readonly (readonly string[])[] = [
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
