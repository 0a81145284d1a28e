export interface Component {
  /** A component that is not enabled is ignored. */
  readonly isEnabled: boolean
  readonly isHealthy: boolean
}

/** The state of a service, which is healthy only if every enabled component is. */
export interface Health<Name extends string = string> {
  readonly isHealthy: boolean
  /** The enabled components that are not healthy. */
  readonly unhealthy: readonly Name[]
  set(name: Name, isHealthy: boolean): void
  /**
   * Calls the listener whenever the overall state changes, until the returned function is called.
   */
  subscribe(listener: HealthListener): () => void
}

export type HealthListener = (isHealthy: boolean) => void

export function createHealth<const Name extends string>(
  initial: Readonly<Record<Name, Component>>,
): Health<Name> {
  const states = new Map<Name, Component>()
  for (const name in initial) states.set(name, initial[name])
  const listeners = new Set<HealthListener>()

  const listUnhealthy = () =>
    [...states].filter(([, state]) => state.isEnabled && !state.isHealthy).map(([name]) => name)
  let unhealthy = listUnhealthy()

  return {
    get isHealthy() {
      return unhealthy.length === 0
    },
    get unhealthy() {
      return unhealthy
    },
    set(name, isHealthy) {
      const state = states.get(name)
      if (state === undefined || state.isHealthy === isHealthy) return
      states.set(name, { ...state, isHealthy })
      const wasHealthy = unhealthy.length === 0
      unhealthy = listUnhealthy()
      const isNowHealthy = unhealthy.length === 0
      if (wasHealthy === isNowHealthy) return
      for (const listener of [...listeners]) listener(isNowHealthy)
    },
    subscribe(listener) {
      // A separate function object, so that the same listener may subscribe twice.
      const wrapper: HealthListener = (isHealthy) => listener(isHealthy)
      listeners.add(wrapper)
      return () => listeners.delete(wrapper)
    },
  }
}
