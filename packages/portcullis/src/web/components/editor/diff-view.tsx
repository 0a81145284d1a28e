import type { Extension } from '@codemirror/state'
import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Failure } from '../states.tsx'

export interface DiffViewProps {
  readonly label: string
  readonly before: string
  readonly after: string
  /** It must be the same function in every rendering. */
  readonly load: () => Promise<Extension>
}

/** The changes of a text, which are loaded when they are first shown. */
export function DiffView({ label, before, after, load }: DiffViewProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null)
  const [error, setError] = useState<unknown>()
  useLayoutEffect(() => {
    let isGone = false
    let close = () => {}
    const open = async () => {
      const [{ openDiff }, language] = await Promise.all([import('./open-diff.ts'), load()])
      if (isGone || !host.current) return
      close = openDiff(host.current, { label, before, after, language })
    }
    open().catch((reason: unknown) => isGone || setError(reason))
    return () => {
      isGone = true
      close()
    }
  }, [label, before, after, load])
  if (error !== undefined) return <Failure error={error} />
  return <div ref={host} class="code-diff" />
}
