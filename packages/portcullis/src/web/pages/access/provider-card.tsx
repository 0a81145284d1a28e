import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { callApi } from '../../api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { showSuccess } from '../../components/toasts.tsx'

interface ProviderCardProps {
  readonly title: string
  /** What messages call the provider, as the beginning of a sentence. */
  readonly subject: string
  /** The path of its API. */
  readonly path: string
  readonly isEnabled: boolean
  /** Returns the body of the request that enables or disables the provider. */
  readonly toSwitch: (isEnabled: boolean) => object
  readonly renderForm: (onClose: () => void) => JSX.Element
  readonly deletion: { readonly title: string; readonly consequences: string }
  readonly onChanged: () => unknown
  readonly onDeleted: () => void
  /** The facts. */
  readonly children: ComponentChildren
}

/** A provider that can be edited, disabled and deleted. */
export function ProviderCard(props: ProviderCardProps): JSX.Element {
  const { title, subject, path, isEnabled, deletion } = props
  const [opened, setOpened] = useState<'edit' | 'delete'>()
  const close = () => setOpened(undefined)
  const toggle = async () => {
    await callApi(path, { method: 'PUT', body: props.toSwitch(!isEnabled) })
    showSuccess(`${subject} was ${isEnabled ? 'disabled' : 'enabled'}.`)
    await props.onChanged()
  }
  const remove = async () => {
    await callApi(path, { method: 'DELETE' })
    showSuccess(`${subject} was deleted.`)
    props.onDeleted()
  }
  return (
    <Card
      title={title}
      actions={
        <>
          <Button size="small" onClick={() => setOpened('edit')}>
            Edit…
          </Button>
          <Button size="small" onClick={toggle}>
            {isEnabled ? 'Disable' : 'Enable'}
          </Button>
          <Button size="small" kind="danger" onClick={() => setOpened('delete')}>
            Delete…
          </Button>
        </>
      }
    >
      {props.children}
      {opened === 'edit' && props.renderForm(close)}
      {opened === 'delete' && (
        <FormDialog
          title={deletion.title}
          action="Delete"
          kind="danger"
          onSubmit={remove}
          onClose={close}
        >
          <p>{deletion.consequences} To pause it, disable it instead.</p>
        </FormDialog>
      )}
    </Card>
  )
}

export function EnabledState({ isEnabled }: { readonly isEnabled: boolean }): JSX.Element {
  return isEnabled ? (
    <Badge tone="ok" hasDot>
      Enabled
    </Badge>
  ) : (
    <Badge>Disabled</Badge>
  )
}
