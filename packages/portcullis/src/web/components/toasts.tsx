import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { toMessage } from '../api.ts'

interface Toast {
  readonly id: number
  readonly tone: 'ok' | 'danger'
  readonly text: string
}

const shownMs = 5_000
const listeners = new Set<(toast: Toast) => void>()
let lastId = 0

function show(tone: Toast['tone'], text: string): void {
  const toast = { id: ++lastId, tone, text }
  for (const listener of listeners) listener(toast)
}

/** Confirms that an action succeeded. */
export function showSuccess(text: string): void {
  show('ok', text)
}

/** Reports a failed action that has no better place on the page. */
export function showFailure(error: unknown): void {
  show('danger', toMessage(error))
}

export function Toasts(): JSX.Element {
  const [toasts, setToasts] = useState<readonly Toast[]>([])
  useEffect(() => {
    const add = (toast: Toast) => {
      setToasts((shown) => [...shown, toast])
      setTimeout(() => setToasts((shown) => shown.filter(({ id }) => id !== toast.id)), shownMs)
    }
    listeners.add(add)
    return () => listeners.delete(add)
  }, [])
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, tone, text }) => (
        <div key={id} class={`toast tone-${tone}`}>
          {text}
        </div>
      ))}
    </div>
  )
}
