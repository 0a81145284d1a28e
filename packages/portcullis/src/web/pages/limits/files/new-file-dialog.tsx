import type { JSX } from 'preact'
import type { SavedFile } from '../../../../console/routes/limits.ts'
import { callApi } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { toFilePath } from './use-rule-file.ts'

export interface NewFileDialogProps {
  readonly onCreated: (file: SavedFile) => void
  readonly onClose: () => void
}

export function NewFileDialog({ onCreated, onClose }: NewFileDialogProps): JSX.Element {
  const create = async (form: FormData) => {
    const typed = String(form.get('name')).trim()
    const name = typed.endsWith('.yaml') ? typed : `${typed}.yaml`
    const body = { text: toStarterText(String(form.get('domain')).trim()), version: null }
    onCreated(await callApi<SavedFile>(toFilePath(name), { method: 'PUT', body }))
  }
  return (
    <FormDialog title="New rule file" action="Create" onSubmit={create} onClose={onClose}>
      <Field label="File name" hint="Such as checkout.yaml.">
        <input class="input mono" name="name" required autocomplete="off" />
      </Field>
      <Field label="Domain" hint="What callers name in their requests. Each file has its own.">
        <input class="input mono" name="domain" required autocomplete="off" />
      </Field>
    </FormDialog>
  )
}

/** Something to begin with: one limit for each address. */
function toStarterText(domain: string): string {
  return `domain: ${JSON.stringify(domain)}
descriptors:
  - key: remote_address
    rate_limit:
      unit: minute
      requests_per_unit: 100
`
}
