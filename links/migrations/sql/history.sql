-- The history of links, so that a client can send former values back. The migration inserts the names from links/fields.py.
-- Creating a link writes no row. No trigger records deletions: that of an account deletes its links and their history.
CREATE TRIGGER links_record_row AFTER UPDATE ON links_link FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('link.updated', 'owner_id');
