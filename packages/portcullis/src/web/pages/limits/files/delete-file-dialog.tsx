import type { JSX } from 'preact'
import type { LoadReport } from '../../../../console/routes/limits.ts'
import { callApi } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { dropDraft } from './drafts.ts'
import { toFilePath } from './use-rule-file.ts'

export interface DeleteFileDialogProps {
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
      <p>Its rules end at once: requests that only they limit are let in from then on.</p>
    </FormDialog>
  )
}
