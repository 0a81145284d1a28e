import type { ComponentChildren, JSX, TargetedMouseEvent, TargetedSubmitEvent } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { toMessage } from '../api.ts'
import { Button } from './button.tsx'
import { FieldError, FieldErrorContext } from './field.tsx'
import { Notice } from './states.tsx'

export interface DialogProps {
  readonly title: string
  /** Only screen readers get the title. */
  readonly isTitleHidden?: boolean
  /** Closes on a click beside it. Not for forms, whose content would be lost. */
  readonly isLight?: boolean
  readonly class?: string
  /** Also called when the browser closes the dialog, for example on Escape. */
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** Uses the native dialog element, so that the browser traps and restores the focus. */
export function Dialog(props: DialogProps): JSX.Element {
  const { title, isTitleHidden = false, isLight = false, onClose, children } = props
  const element = useRef<HTMLDialogElement>(null)
  const isGone = useRef(false)
  const id = useId()
  // Before the next paint, so that no key press goes to the page behind the dialog.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => {
      isGone.current = true
      // The browser restores the focus only if the dialog is closed before it is removed.
      dialog?.close()
    }
  }, [])
  const closeOutside = ({ target, currentTarget }: TargetedMouseEvent<HTMLDialogElement>) => {
    if (isLight && target === currentTarget) currentTarget.close()
  }
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- Escape closes it too
    <dialog
      ref={element}
      class={['dialog', props.class].filter(Boolean).join(' ')}
      aria-labelledby={id}
      onClick={closeOutside}
      // The browser reports late, after the component may have been removed and another dialog opened.
      onClose={() => isGone.current || onClose()}
    >
      <div>
        <h2 id={id} class={isTitleHidden ? 'hidden' : undefined}>
          {title}
        </h2>
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
  /** Returns the name of the field that an error is about; the error is shown beside it. */
  readonly findField?: (error: unknown) => string | undefined
  readonly onClose: () => void
  readonly children: ComponentChildren
}

export function FormDialog(props: FormDialogProps): JSX.Element {
  const { title, action, size, kind = 'primary', onSubmit, findField, onClose, children } = props
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => {
    if (error instanceof FieldError) focusField(form.current, error.field)
  }, [error])
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const { currentTarget } = event
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit(new FormData(currentTarget))
      onClose()
    } catch (reason) {
      setError(toFieldError(reason, currentTarget, findField))
      setBusy(false)
    }
  }
  const isOfField = error instanceof FieldError
  return (
    <Dialog title={title} {...(size && { class: size })} onClose={onClose}>
      <form ref={form} class="stack" onSubmit={submit}>
        <FieldErrorContext value={isOfField ? error : undefined}>{children}</FieldErrorContext>
        {error !== undefined && !isOfField && <Notice tone="danger">{toMessage(error)}</Notice>}
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

/** An error about a field that the form does not show stays an error of the whole form. */
function toFieldError(
  error: unknown,
  form: HTMLFormElement,
  findField: FormDialogProps['findField'],
): unknown {
  const field = error instanceof FieldError ? error.field : findField?.(error)
  if (field === undefined) return error
  return form.elements.namedItem(field) === null
    ? new Error(toMessage(error))
    : new FieldError(field, toMessage(error))
}

function focusField(form: HTMLFormElement | null, name: string): void {
  const field = form?.elements.namedItem(name)
  if (!(field instanceof HTMLElement)) return
  const folded = field.closest('details')
  if (folded) folded.open = true
  field.focus()
}
