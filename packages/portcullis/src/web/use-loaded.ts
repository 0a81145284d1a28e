import { useCallback, useEffect, useState } from 'preact/hooks'

export type Loaded<Value> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'ready'; readonly value: Value }

/**
 * Loads a value when a page is shown, and again when one of `inputs` changes or `reload` is called. The old
 * value is kept until the new one arrives.
 */
export function useLoaded<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
): Loaded<Value> & { readonly reload: () => void } {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ state: 'loading' })
  const [turn, setTurn] = useState(0)
  const reload = useCallback(() => setTurn((last) => last + 1), [])
  useEffect(() => {
    const leaving = new AbortController()
    load(leaving.signal).then(
      (value) => leaving.signal.aborted || setLoaded({ state: 'ready', value }),
      (error: unknown) => leaving.signal.aborted || setLoaded({ state: 'failed', error }),
    )
    return () => leaving.abort()
  }, [...inputs, turn])
  return { ...loaded, reload }
}
