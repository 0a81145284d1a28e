-- Tells the connection that writes an audit entry what it has written, so that the log can have it
-- as well: several statements decide by themselves what they write. Only connections that set
-- portcullis.audit hear of it: `tell`, or `instead` where the table is to stay empty.
create function {ns}.tell_audit_entry() returns trigger language plpgsql as $$
begin
  raise info using
    message = 'audit entry',
    detail = json_build_object('id', new.id, 'payload', new.payload, 'ip', new.ip_address)::text,
    errcode = 'AUDIT';
  if current_setting('portcullis.audit', true) = 'instead' then
    return null;
  end if;
  return new;
end $$;

create trigger tell_audit_entry before insert on {ns}.audit_log_entries for each row
  when (current_setting('portcullis.audit', true) in ('tell', 'instead'))
  execute function {ns}.tell_audit_entry();
