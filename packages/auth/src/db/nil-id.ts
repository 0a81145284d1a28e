/**
 * The nil UUID. It is smaller than every ID in use, so paging by ID starts after it; in the audit log,
 * it stands for an administrator.
 */
export const nilId = '00000000-0000-0000-0000-000000000000'
