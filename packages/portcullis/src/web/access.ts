import { useEffect, useState } from 'preact/hooks'

const listeners = new Set<() => void>()

/** To be called when the console does not let us in any more. */
export function tellAccessLost(): void {
  for (const listener of listeners) listener()
}

/** Whether it was started again with another token: nothing on the page works then. */
export function useAccessLost(): boolean {
  const [isLost, setLost] = useState(false)
  useEffect(() => {
    const listener = () => setLost(true)
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  }, [])
  return isLost
}
