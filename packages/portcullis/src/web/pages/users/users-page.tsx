import type { JSX } from 'preact'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty } from '../../components/states.tsx'

export function UsersPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Users" summary="Not built yet." />
      <Empty icon="users" title="Nothing here yet" />
    </>
  )
}
