import type { ComponentChildren, JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Button, CopyButton } from './button.tsx'
import { Dialog, FormDialog, type FormDialogProps } from './dialog.tsx'

interface SecretsDialogProps {
  readonly title: string
  /** The texts by their names. */
  readonly secrets: Readonly<Record<string, string>>
  readonly onClose: () => void
  /** What the secrets are for. */
  readonly children: ComponentChildren
}

/** Shows secrets that cannot be read again. They are not part of the address. */
export function SecretsDialog(props: SecretsDialogProps): JSX.Element {
  const { title, secrets, onClose, children } = props
  return (
    <Dialog title={title} onClose={onClose}>
      <p class="muted">{children}</p>
      {Object.entries(secrets).map(([label, value]) => (
        <Secret key={label} label={label} value={value} />
      ))}
      <footer>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}

function Secret({ label, value }: { readonly label: string; readonly value: string }): JSX.Element {
  return (
    <div class="stack tight">
      <div class="row between">
        <h3>{label}</h3>
        <CopyButton text={value} />
      </div>
      <output class="code-block mono" aria-label={label}>
        {value}
      </output>
    </div>
  )
}

/** What a form has created, and the secrets that only its response has. */
export interface ShownSecrets extends Pick<SecretsDialogProps, 'title' | 'secrets'> {
  readonly about: string
}

export interface SecretFormDialogProps extends Omit<FormDialogProps, 'onSubmit'> {
  /** Returns undefined if there is no secret to show. */
  readonly onSubmit: (form: FormData) => Promise<ShownSecrets | undefined>
}

/** A form whose result is shown in its place. */
export function SecretFormDialog(props: SecretFormDialogProps): JSX.Element {
  const { onSubmit, onClose } = props
  const [shown, setShown] = useState<ShownSecrets>()
  // The form closes itself when it is done.
  const isDone = useRef(false)
  if (shown) {
    return (
      <SecretsDialog title={shown.title} secrets={shown.secrets} onClose={onClose}>
        {shown.about}
      </SecretsDialog>
    )
  }
  return (
    <FormDialog
      {...props}
      onSubmit={async (form) => {
        const result = await onSubmit(form)
        isDone.current = result !== undefined
        setShown(result)
      }}
      onClose={() => isDone.current || onClose()}
    />
  )
}
