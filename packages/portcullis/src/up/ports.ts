interface Listener {
  /** The default port. */
  readonly port: number
  /** The part that listens on it. */
  readonly part: string
  readonly what: string
}

/** Every port that `up` listens on, in the order of `--port-base`. Each has an option: see `toFlag`. */
export const listeners = {
  console: { port: 3000, part: 'console', what: 'the console' },
  graphql: { port: 4000, part: 'graphql', what: 'the GraphQL API' },
  auth: { port: 8081, part: 'auth', what: 'the auth server' },
  ratelimit: { port: 8080, part: 'ratelimit', what: "the rate limit service's HTTP API" },
  // Not 8081, the default of the service, because the auth server uses that port.
  grpc: { port: 8082, part: 'ratelimit', what: "the rate limit service's gRPC API" },
  debug: { port: 6070, part: 'ratelimit', what: "the rate limit service's debug pages" },
  smtp: { port: 2525, part: 'mailbox', what: "the mailbox's SMTP server" },
  sms: { port: 2526, part: 'mailbox', what: "the mailbox's SMS gateway" },
} as const satisfies Record<string, Listener>

export type ListenerName = keyof typeof listeners
export type PartName = (typeof listeners)[ListenerName]['part']
export type Ports = Readonly<Record<ListenerName, number>>

export const listenerNames: readonly ListenerName[] = Object.keys(listeners).filter(isListenerName)

function isListenerName(name: string): name is ListenerName {
  return Object.hasOwn(listeners, name)
}

/** In the order of the listeners. */
export const partNames: readonly PartName[] = [
  ...new Set(listenerNames.map((name) => listeners[name].part)),
]

export function toPorts(choose: (name: ListenerName, index: number) => number): Ports {
  const entries = listenerNames.map((name, index) => [name, choose(name, index)])
  return Object.fromEntries(entries) as Ports
}

/** The option that changes the port: `console-port`. */
export function toFlag<Name extends ListenerName>(name: Name): `${Name}-port` {
  return `${name}-port`
}

/** Returns the listeners of these parts. */
export function toListenerNames(parts: ReadonlySet<PartName>): readonly ListenerName[] {
  return listenerNames.filter((name) => parts.has(listeners[name].part))
}
