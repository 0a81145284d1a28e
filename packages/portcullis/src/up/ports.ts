/** Every door that `up` opens: its usual number, whose it is, and what comes through it. */
export const doors = {
  console: { port: 3000, part: 'console', what: 'the console' },
  graphql: { port: 4000, part: 'graphql', what: 'the GraphQL API' },
  auth: { port: 8081, part: 'auth', what: 'the auth server' },
  ratelimit: { port: 8080, part: 'ratelimit', what: "the rate limit service's JSON" },
  // Not 8081, its usual one: the auth server has that too.
  grpc: { port: 8082, part: 'ratelimit', what: "the rate limit service's gRPC" },
  debug: { port: 6070, part: 'ratelimit', what: "the rate limit service's debug pages" },
  smtp: { port: 2525, part: 'mailbox', what: 'the mail catcher' },
  sms: { port: 2526, part: 'mailbox', what: 'the SMS catcher' },
} as const

export type DoorName = keyof typeof doors
export type PartName = (typeof doors)[DoorName]['part']
export type Ports = Readonly<Record<DoorName, number>>
