// Before the first paint: the theme that the user chose in this browser. A classic script, because modules come later.
(() => {
    try {
        const theme = localStorage.getItem("dashboard.theme");
        if (theme) document.documentElement.dataset.theme = theme;
    } catch {
        // Browsers can be set to refuse all storage.
    }
})();
