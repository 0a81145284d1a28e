import { useEffect, useRef, useState } from 'preact/hooks'

export type StreamListeners = Readonly<Record<string, (data: never) => void>>

/**
 * Listens to server-sent events while the page is shown. The browser connects again by itself.
 * @returns whether it is connected.
 */
export function useEventStream(path: string | undefined, listeners: StreamListeners): boolean {
  const [isConnected, setConnected] = useState(false)
  // The latest ones, without connecting anew for each.
  const latest = useRef(listeners)
  latest.current = listeners
  useEffect(() => {
    if (path === undefined) return
    const source = new EventSource(path)
    source.onopen = () => setConnected(true)
    source.onerror = () => setConnected(false)
    for (const name of Object.keys(latest.current)) {
      source.addEventListener(name, (event) => {
        const listener = latest.current[name] as ((data: unknown) => void) | undefined
        listener?.(JSON.parse(event.data))
      })
    }
    return () => source.close()
  }, [path])
  return isConnected
}
