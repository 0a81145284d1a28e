import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ServiceAccount } from '../../../../console/routes/access-items.ts'
import { callApi } from '../../../api.ts'
import { Button } from '../../../components/button.tsx'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { Empty } from '../../../components/states.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { readText } from '../../../form-values.ts'
import { formatCountOf } from '../../../format.ts'
import { createFieldFinder } from '../form-fields.tsx'
import { Age } from '../item-facts.tsx'
import { ItemList } from '../item-list.tsx'
import type { AccessAddress } from '../use-access-address.ts'

interface AccountsProps {
  readonly accounts: readonly ServiceAccount[]
  readonly address: AccessAddress
  readonly onDelete: (account: ServiceAccount) => void
}

/** The programs that have API keys and are not users. */
export function Accounts({ accounts, address, onDelete }: AccountsProps): JSX.Element {
  const [search, setSearch] = useState('')
  return (
    <ItemList
      title={formatCountOf(accounts.length, 'service account')}
      plural="service accounts"
      items={accounts}
      columns={[
        {
          title: 'Service account',
          cell: ({ id, name }) => (
            <>
              <a class="access-name" href={address.toHref({ account: id, q: '', page: '' })}>
                {name}
              </a>
              <div class="mono muted nowrap">{id}</div>
            </>
          ),
        },
        { title: 'Role', class: 'mono', cell: ({ role }) => role },
        { title: 'Plan', cell: ({ plan }) => plan ?? <span class="muted">none</span> },
        { title: 'Created', class: 'nowrap', cell: (account) => <Age time={account.created_at} /> },
        {
          title: '',
          class: 'access-actions',
          cell: (account) => (
            <Button size="small" label={`Delete ${account.name}`} onClick={() => onDelete(account)}>
              Delete…
            </Button>
          ),
        },
      ]}
      toKey={({ id }) => id}
      toText={({ id, name, role, plan }) => [id, name, role, plan].join(' ')}
      search={search}
      onSearch={setSearch}
      actions={
        <Button size="small" icon="plus" onClick={() => address.go({ new: 'account' })}>
          Create service account
        </Button>
      }
      empty={
        <Empty icon="users" title="No service accounts yet">
          A service account stands for a program. It has API keys and cannot sign in.
        </Empty>
      }
    />
  )
}

interface FormProps {
  readonly onDone: () => unknown
  readonly onClose: () => void
}

const findField = createFieldFinder({ name: /^name/, role: /^role/, plan: /^plan/ })

export function NewAccountForm({ onDone, onClose }: FormProps): JSX.Element {
  const create = async (form: FormData) => {
    const role = readText(form, 'role')
    const plan = readText(form, 'plan')
    const account = await callApi<ServiceAccount>('/api/access/service-accounts', {
      method: 'POST',
      body: {
        name: readText(form, 'name'),
        ...(role !== '' && { role }),
        ...(plan !== '' && { plan }),
      },
    })
    showSuccess(`${account.name} was created.`)
    onDone()
  }
  return (
    <FormDialog
      title="Create service account"
      action="Create"
      findField={findField}
      onSubmit={create}
      onClose={onClose}
    >
      <Field label="Name">
        <input name="name" class="input" autocomplete="off" required />
      </Field>
      <Field label="Role" hint="The role in its tokens, which your APIs check.">
        <input
          name="role"
          class="input mono"
          autocomplete="off"
          spellcheck={false}
          placeholder="service_account"
        />
      </Field>
      <Field label="Plan" hint="Optional: rate limits can depend on it.">
        <input name="plan" class="input" autocomplete="off" />
      </Field>
    </FormDialog>
  )
}

interface DeleteAccountFormProps extends FormProps {
  readonly account: ServiceAccount
}

export function DeleteAccountForm(props: DeleteAccountFormProps): JSX.Element {
  const { account, onDone, onClose } = props
  const remove = async () => {
    await callApi(`/api/access/service-accounts/${account.id}`, { method: 'DELETE' })
    showSuccess(`${account.name} was deleted.`)
    onDone()
  }
  return (
    <FormDialog
      title={`Delete ${account.name}?`}
      action="Delete"
      kind="danger"
      onSubmit={remove}
      onClose={onClose}
    >
      <p>All its API keys and their tokens stop working at once. This cannot be undone.</p>
    </FormDialog>
  )
}
