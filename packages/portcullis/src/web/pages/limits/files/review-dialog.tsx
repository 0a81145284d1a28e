import type { JSX } from 'preact'
import type { DraftReview } from '../../../../console/routes/limits.ts'
import { callApi } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { DiffView } from '../../../components/editor/diff-view.tsx'
import { Loading, Notice } from '../../../components/states.tsx'
import { useLoaded } from '../../../use-loaded.ts'
import { DecisionChanges } from './decision-changes.tsx'
import { toLanguage } from './file-kind.ts'
import { toFilePath } from './use-rule-file.ts'

interface ReviewDialogProps {
  readonly name: string
  readonly before: string
  readonly after: string
  readonly onSave: () => Promise<void>
  readonly onClose: () => void
}

/** Before a draft is saved, shows the changes to the file and to the decisions. */
export function ReviewDialog(props: ReviewDialogProps): JSX.Element {
  const { name, before, after, onSave, onClose } = props
  return (
    <FormDialog
      title={`Save ${name}?`}
      action="Save"
      size="wide"
      onSubmit={onSave}
      onClose={onClose}
    >
      <DiffView
        label={`Changes to ${name}`}
        before={before}
        after={after}
        load={toLanguage(name)}
      />
      <section class="stack tight" aria-labelledby="limits-would-change">
        <h3 id="limits-would-change">Decisions that would change</h3>
        <Replay name={name} text={after} />
      </section>
    </FormDialog>
  )
}

function Replay({ name, text }: { readonly name: string; readonly text: string }): JSX.Element {
  const review = useLoaded(
    (signal) =>
      callApi<DraftReview>(`${toFilePath(name)}/review`, {
        method: 'POST',
        body: { text },
        signal,
      }),
    [name, text],
  )
  if (review.state === 'loading') return <Loading>Replaying the latest requests…</Loading>
  if (review.state === 'failed') {
    return (
      <Notice tone="warn">The latest requests could not be replayed. You can still save.</Notice>
    )
  }
  const { comparison, reason } = review.value
  if (comparison === undefined) return <Notice>{reason}</Notice>
  return <DecisionChanges comparison={comparison} />
}
