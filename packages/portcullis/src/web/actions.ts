import { useEffect, useRef } from 'preact/hooks'
import type { IconName } from './components/icons.tsx'

/** Something that the user can do, offered by the command palette. */
export interface Action {
  /** Such as `Create user`. */
  readonly label: string
  readonly icon: IconName
  /** Other words under which it is found. */
  readonly words?: string
  readonly run: () => unknown
}

const registered = new Set<{ readonly current: readonly Action[] }>()

/** Offers actions in the command palette while the component is shown. */
export function useActions(actions: readonly Action[]): void {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    registered.add(latest)
    return () => {
      registered.delete(latest)
    }
  }, [])
}

/** Lists the actions; those of the page come before those of the whole console. */
export function listActions(): readonly Action[] {
  return [...registered].toReversed().flatMap(({ current }) => current)
}
