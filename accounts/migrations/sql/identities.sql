-- Only the account's own pages add and remove identities. The view of allauth opens no transaction that could name an
-- author, so without one it is the account.
CREATE FUNCTION accounts_record_identity_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_new boolean := TG_OP = 'INSERT';
    identity socialaccount_socialaccount := CASE WHEN is_new THEN NEW ELSE OLD END;
    account accounts_user;
BEGIN
    SELECT u.* INTO account FROM accounts_user u JOIN accounts_workspace w ON w.id = u.id WHERE u.id = identity.user_id;
    -- No row if the same transaction has deleted the account.
    IF FOUND THEN
        PERFORM accounts_record_change(
            account.id, account.public_id, 'account.updated',
            CASE WHEN is_new THEN '{}' ELSE '{"identity": "set"}' END::jsonb,
            CASE WHEN is_new THEN '{"identity": "set"}' ELSE '{"identity": "removed"}' END::jsonb,
            coalesce(
                nullif(current_setting('history.author', true), '')::jsonb,
                jsonb_build_object('actor', account.id, 'via', 'page')
            )
        );
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER accounts_record_identity_change AFTER INSERT OR DELETE ON socialaccount_socialaccount
    FOR EACH ROW EXECUTE FUNCTION accounts_record_identity_change();
