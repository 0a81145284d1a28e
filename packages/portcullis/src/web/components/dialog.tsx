import type { ComponentChildren, JSX, TargetedSubmitEvent } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { toMessage } from '../api.ts'
import { Button } from './button.tsx'
import { Notice } from './states.tsx'

export interface DialogProps {
  readonly title: string
  readonly size?: 'wide'
  /** Also called when the browser closes the dialog, for example on Escape. */
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** Uses the native dialog element, so that the browser traps and restores the focus. */
export function Dialog({ title, size, onClose, children }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before the next paint, so that no key press goes to the page behind the dialog.
  useLayoutEffect(() => element.current?.showModal(), [])
  return (
    <dialog
      ref={element}
      class={size === undefined ? 'dialog' : `dialog ${size}`}
      aria-labelledby={id}
      onClose={onClose}
    >
      <div>
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

export interface FormDialogProps {
  readonly title: string
  readonly action: string
  readonly size?: 'wide'
  readonly kind?: 'primary' | 'danger'
  /** If it rejects, the dialog shows the error and stays open. */
  readonly onSubmit: (form: FormData) => Promise<unknown>
  readonly onClose: () => void
  readonly children: ComponentChildren
}

export function FormDialog(props: FormDialogProps): JSX.Element {
  const { title, action, size, kind = 'primary', onSubmit, onClose, children } = props
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit(new FormData(event.currentTarget))
      onClose()
    } catch (reason) {
      setError(reason)
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} {...(size && { size })} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {children}
        {error !== undefined && <Notice tone="danger">{toMessage(error)}</Notice>}
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind={kind} isDisabled={isBusy}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
