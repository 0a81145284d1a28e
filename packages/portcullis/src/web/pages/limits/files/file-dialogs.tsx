import type { JSX } from 'preact'
import type { LoadReport, SavedFile } from '../../../../console/routes/limits.ts'
import { callApi } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { isTestFile } from './file-kind.ts'
import { dropDraft, toFilePath } from './use-rule-file.ts'

interface NewFileDialogProps {
  readonly onCreated: (file: SavedFile) => void
  readonly onClose: () => void
}

export function NewFileDialog({ onCreated, onClose }: NewFileDialogProps): JSX.Element {
  const create = async (form: FormData) => {
    const typed = String(form.get('name')).trim()
    const name = typed.endsWith('.yaml') ? typed : `${typed}.yaml`
    const domain = JSON.stringify(String(form.get('domain')).trim())
    const text = isTestFile(name) ? toStarterTests(domain) : toStarterRules(domain)
    const body = { text, version: null }
    onCreated(await callApi<SavedFile>(toFilePath(name), { method: 'PUT', body }))
  }
  return (
    <FormDialog title="New rule file" action="Create" onSubmit={create} onClose={onClose}>
      <Field
        label="File name"
        hint="For example checkout.yaml, or checkout.test.yaml for policy tests."
      >
        <input class="input mono" name="name" required autocomplete="off" />
      </Field>
      <Field
        label="Domain"
        hint="The domain that clients send in their requests. Each file has its own domain."
      >
        <input class="input mono" name="domain" required autocomplete="off" />
      </Field>
    </FormDialog>
  )
}

/** The initial content: one limit per address. */
function toStarterRules(domain: string): string {
  return `domain: ${domain}
descriptors:
  - key: remote_address
    rate_limit:
      unit: minute
      requests_per_unit: 100
`
}

function toStarterTests(domain: string): string {
  return `domain: ${domain}
tests:
  - name: an address may call a hundred times a minute
    steps:
      - request: { descriptors: [{ remote_address: 192.0.2.1 }] }
        times: 100
        expect: ok
      - request: { descriptors: [{ remote_address: 192.0.2.1 }] }
        expect: over_limit
`
}

interface DeleteFileDialogProps {
  readonly name: string
  readonly version: string
  readonly onDeleted: (load: LoadReport) => void
  readonly onClose: () => void
}

export function DeleteFileDialog(props: DeleteFileDialogProps): JSX.Element {
  const { name, version, onDeleted, onClose } = props
  const remove = async () => {
    const path = `${toFilePath(name)}?${new URLSearchParams({ version })}`
    const load = await callApi<LoadReport>(path, { method: 'DELETE' })
    dropDraft(name)
    onDeleted(load)
  }
  return (
    <FormDialog
      title={`Delete ${name}?`}
      action="Delete"
      kind="danger"
      onSubmit={remove}
      onClose={onClose}
    >
      <p>
        {isTestFile(name)
          ? 'The tests are deleted. The rules do not change.'
          : 'Its rules stop applying at once. Requests that no other rule limits are then allowed.'}
      </p>
    </FormDialog>
  )
}
