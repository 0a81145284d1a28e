interface Door {
  /** Its usual number. */
  readonly port: number
  /** Whose it is. */
  readonly part: string
  readonly what: string
}

/** Every door that `up` opens, in the order of `--port-base`. Each has a flag: see `toFlag`. */
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
} as const satisfies Record<string, Door>

export type DoorName = keyof typeof doors
export type PartName = (typeof doors)[DoorName]['part']
export type Ports = Readonly<Record<DoorName, number>>

export const doorNames: readonly DoorName[] = Object.keys(doors).filter(isDoorName)

function isDoorName(name: string): name is DoorName {
  return Object.hasOwn(doors, name)
}

/** Its order is that of the doors. */
export const partNames: readonly PartName[] = [
  ...new Set(doorNames.map((name) => doors[name].part)),
]

export function toPorts(choose: (name: DoorName, index: number) => number): Ports {
  const entries = doorNames.map((name, index) => [name, choose(name, index)])
  return Object.fromEntries(entries) as Ports
}

/** The option that moves a door: `console-port`. */
export function toFlag<Name extends DoorName>(name: Name): `${Name}-port` {
  return `${name}-port`
}

/** The doors of these parts. */
export function toDoorNames(parts: ReadonlySet<PartName>): readonly DoorName[] {
  return doorNames.filter((name) => parts.has(doors[name].part))
}
