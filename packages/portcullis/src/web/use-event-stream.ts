import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, callApi } from './api.ts'

/** `lost`: the connection has ended or could not be opened, and is tried again. */
export type StreamState = 'connecting' | 'open' | 'lost'

export type StreamListeners = Readonly<Record<string, (data: never) => void>>

/** Shown while there is no data, because the connection could not be opened. */
export const lostConnection =
  'The console does not respond. Check that it is still running. The page reconnects by itself.'

const retryMs = 3_000

/**
 * Receives server-sent events while the page is visible, and reconnects when necessary. With `onRefused`, a
 * refused connection is not retried; the callback decides what to do.
 */
export function useEventStream(
  path: string | undefined,
  listeners: StreamListeners,
  onRefused?: () => void,
): StreamState {
  const [state, setState] = useState<StreamState>('connecting')
  // Refs, so that new listeners do not cause a reconnect.
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
      // If access was lost, this call reports it, and there is no need to reconnect.
      const error = await callApi('/api/session').catch((reason: unknown) => reason)
      const isShut = error instanceof ApiError && error.status === 401
      if (!isGone && !isShut) retry = setTimeout(connect, retryMs)
    }
    const connect = () => {
      if (source !== undefined || document.hidden) return
      source = new EventSource(path)
      source.onopen = () => setState('open')
      source.onerror = () => {
        setState('lost')
        // In the other states the browser reconnects by itself.
        if (source?.readyState === EventSource.CLOSED) void onClosed()
      }
      for (const name of Object.keys(latest.current)) {
        source.addEventListener(name, (event) => {
          const listener = latest.current[name] as ((data: unknown) => void) | undefined
          listener?.(JSON.parse(event.data))
        })
      }
    }
    // Browsers allow only six connections per site, so hidden pages disconnect.
    const follow = () => (document.hidden ? disconnect() : connect())
    connect()
    document.addEventListener('visibilitychange', follow)
    return () => {
      isGone = true
      document.removeEventListener('visibilitychange', follow)
      disconnect()
      setState('connecting')
    }
  }, [path])
  return state
}
