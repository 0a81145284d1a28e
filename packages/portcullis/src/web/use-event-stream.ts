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
    let source: EventSource | undefined
    const disconnect = () => {
      source?.close()
      source = undefined
    }
    const connect = () => {
      if (source !== undefined || document.hidden) return
      source = new EventSource(path)
      source.onopen = () => setConnected(true)
      source.onerror = () => setConnected(false)
      for (const name of Object.keys(latest.current)) {
        source.addEventListener(name, (event) => {
          const listener = latest.current[name] as ((data: unknown) => void) | undefined
          listener?.(JSON.parse(event.data))
        })
      }
    }
    // A browser has six connections for a site, and people have more windows: those they see count.
    const follow = () => (document.hidden ? disconnect() : connect())
    connect()
    document.addEventListener('visibilitychange', follow)
    return () => {
      document.removeEventListener('visibilitychange', follow)
      disconnect()
    }
  }, [path])
  return isConnected
}
