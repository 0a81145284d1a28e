import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

export type Loaded<Value> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'ready'; readonly value: Value }

/**
 * Loads a value when a page is shown, and again when one of `inputs` changes or `reload` is called. The old
 * value is kept until the new one arrives. For a button that shows progress, `reload` returns a promise that settles when
 * the load has ended either way; others ignore it.
 */
export function useLoaded<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
): Loaded<Value> & { readonly reload: () => unknown } {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ state: 'loading' })
  const [turn, setTurn] = useState(0)
  const waiting = useRef<(() => void)[]>([])
  const reload = useCallback(() => {
    setTurn((last) => last + 1)
    return new Promise<void>((done) => waiting.current.push(done))
  }, [])
  useEffect(() => {
    const leaving = new AbortController()
    const end = (next: Loaded<Value>) => {
      if (leaving.signal.aborted) return
      setLoaded(next)
      for (const done of waiting.current.splice(0)) done()
    }
    load(leaving.signal).then(
      (value) => end({ state: 'ready', value }),
      (error: unknown) => end({ state: 'failed', error }),
    )
    return () => leaving.abort()
  }, [...inputs, turn])
  return { ...loaded, reload }
}
