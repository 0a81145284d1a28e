import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, callApi } from './api.ts'

export type StreamListeners = Readonly<Record<string, (data: never) => void>>

const retryMs = 3_000

/**
 * Listens to server-sent events while the page is shown, and connects again when it has to. A refusal can be
 * final: whoever knows what it means says so with `onRefused`, and it is not tried again.
 * @returns whether it is connected.
 */
export function useEventStream(
  path: string | undefined,
  listeners: StreamListeners,
  onRefused?: () => void,
): boolean {
  const [isConnected, setConnected] = useState(false)
  // The latest ones, without connecting anew for each.
  const latest = useRef(listeners)
  latest.current = listeners
  const latestOnRefused = useRef(onRefused)
  latestOnRefused.current = onRefused
  useEffect(() => {
    if (path === undefined) return
    let source: EventSource | undefined
    let retry: ReturnType<typeof setTimeout> | undefined
    let isGone = false
    const disconnect = () => {
      clearTimeout(retry)
      source?.close()
      source = undefined
    }
    const onClosed = async () => {
      disconnect()
      if (latestOnRefused.current) return latestOnRefused.current()
      // Whoever is not let in any more learns it by this, and need not knock again.
      const error = await callApi('/api/session').catch((reason: unknown) => reason)
      const isShut = error instanceof ApiError && error.status === 401
      if (!isGone && !isShut) retry = setTimeout(connect, retryMs)
    }
    const connect = () => {
      if (source !== undefined || document.hidden) return
      source = new EventSource(path)
      source.onopen = () => setConnected(true)
      source.onerror = () => {
        setConnected(false)
        // Otherwise the browser connects again by itself.
        if (source?.readyState === EventSource.CLOSED) void onClosed()
      }
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
      isGone = true
      document.removeEventListener('visibilitychange', follow)
      disconnect()
    }
  }, [path])
  return isConnected
}
